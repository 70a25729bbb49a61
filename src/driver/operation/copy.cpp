// SPDX-License-Identifier: Apache-2.0
#include "driver/operation/copy.h"

#include <memory>
#include <vector>

#include "device/support/guest_heap.h"
#include "driver/context.h"
#include "driver/operation/work.h"

namespace us::driver {
namespace {

constexpr u64 kStaged = 64 << 10;  // pageable sources up to this size are read before the call returns

bool to_device(CopyKind k) { return k == CopyKind::HostToDevice || k == CopyKind::DeviceToDevice; }
bool from_device(CopyKind k) { return k == CopyKind::DeviceToHost || k == CopyKind::DeviceToDevice; }

}  // namespace

// The named direction must fit what the pointers are; memory that both sides can reach fits everywhere.
Error CopyOp::check(Context& c) {
  if (empty() || !given.dst || !given.src) return Error::InvalidValue;
  constexpr MemoryRange kArray{.known = true, .device = true};
  dst = given.dst_array ? kArray : range_at(c, given.dst, given.dst_extent(), kWrites, given.dst_device);
  src = given.src_array ? kArray : range_at(c, given.src, given.src_extent(), kReads, given.src_device);
  if (!dst.inside || !src.inside) return Error::InvalidValue;
  if ((to_device(kind) && (!dst.known || dst.host_pool)) || (from_device(kind) && (!src.known || src.host_pool)))
    return Error::InvalidValue;
  where = {&c, c.id()};
  return Error::Success;
}

Error CopyOp::check_on_device(const Context& c, device::GuestHeap& heap) const {
  const auto good = [&](u64 at, u64 extent) { return heap.contains(at, extent) || on_device(c, at, extent); };
  return good(given.dst, given.dst_extent()) && good(given.src, given.src_extent()) ? Error::Success
                                                                                    : Error::InvalidValue;
}

CopyNames CopyOp::shown() const {
  if (names) return *names;
  const auto end = [&](u64 address, u64 pitch, u64 slice, bool device) {
    const auto type = kind == CopyKind::Default ? NamedEnd::Unified : device ? NamedEnd::Device : NamedEnd::Host;
    return NamedEnd{.type = type, .address = address, .pitch = pitch, .height = pitch ? slice / pitch : 0};
  };
  return {.dst = end(given.dst, given.dst_pitch, given.dst_slice, to_device(kind)),
          .src = end(given.src, given.src_pitch, given.src_slice, from_device(kind)),
          .width = given.width,
          .height = given.height,
          .depth = given.depth};
}

Copy CopyOp::work() const {
  Copy c = given;
  c.dst += dst.write_delta;
  return c;
}

NodeRef CopyOp::node(Executor& e) const {
  return work_node(e, kType, given.bytes(), [c = work()] { driver::run(c); });
}

NodeRef CopyOp::node(Executor& e, bool async) const {
  const bool waits = !async && (dst.sync || src.sync);
  if (dst.device && src.device && !waits) return node(e);
  if (async && !dst.pageable() && !src.pageable()) return node(e);
  const bool flat = given.height * given.depth == 1;
  if (!async || dst.pageable() || !flat || given.width > kStaged) return e.make(Node::Kind::Caller);
  const auto* first = reinterpret_cast<const u8*>(given.src);
  auto staged = std::make_shared<std::vector<u8>>(first, first + given.width);
  Copy c = work();
  c.src = reinterpret_cast<u64>(staged->data());
  return work_node(e, kType, c.bytes(), [c, staged] { driver::run(c); });
}

UpdateResult difference(const CopyOp& a, const CopyOp& b) {
  const CopyNames x = a.shown(), y = b.shown();
  const bool same = a.dst.device == b.dst.device && a.src.device == b.src.device && x.dst.array == y.dst.array &&
                    x.src.array == y.src.array && a.where.context == b.where.context;
  return same ? UpdateResult::Success : UpdateResult::ParametersChanged;
}

}  // namespace us::driver
