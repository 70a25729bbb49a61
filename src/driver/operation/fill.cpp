// SPDX-License-Identifier: Apache-2.0
#include "driver/operation/fill.h"

#include "device/support/guest_heap.h"
#include "driver/context.h"
#include "driver/operation/work.h"

namespace us::driver {

Error FillOp::check(Context& c) {
  dst = range_at(c, given.dst, given.extent(), kWrites);
  if (empty() || !given.dst || !dst.known || !dst.inside || !may_set(c, given.dst) || given.dst % given.element)
    return Error::InvalidValue;
  where = {&c, c.id()};
  return Error::Success;
}

Error FillOp::check_on_device(const Context& c, device::GuestHeap& heap) const {
  const bool good = heap.contains(given.dst, given.extent()) || on_device(c, given.dst, given.extent());
  return good ? Error::Success : Error::InvalidValue;
}

Fill FillOp::work() const {
  Fill f = given;
  f.dst += dst.write_delta;
  return f;
}

NodeRef FillOp::node(Executor& e) const {
  return work_node(e, kType, given.bytes(), [f = work()] { driver::run(f); });
}

NodeRef FillOp::node(Executor& e, bool async) const {
  return async || (dst.device && !dst.sync) ? node(e) : e.make(Node::Kind::Caller);
}

UpdateResult difference(const FillOp& a, const FillOp& b) {
  const bool same = (a.given.height > 1) == (b.given.height > 1) && a.where.context == b.where.context;
  return same ? UpdateResult::Success : UpdateResult::ParametersChanged;
}

}  // namespace us::driver
