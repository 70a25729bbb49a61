// SPDX-License-Identifier: Apache-2.0
#include "driver/order/event.h"

namespace us::driver {

Error Event::query() const {
  if (shared_ && !shared_->complete_up_to(shared_->recorded())) return Error::NotReady;
  const NodeRef n = node();
  if (n.pending()) return Error::NotReady;
  if (n && n->executor) n->executor->known(n);
  return Error::Success;
}

Error Event::synchronize() const {
  const u64 number = shared_ ? shared_->recorded() : 0;
  if (const NodeRef n = node()) n->executor->wait(n);
  if (shared_) shared_->wait(number);
  return Error::Success;
}

Error Event::elapsed_ms(const Event& start, const Event& end, float& ms) {
  const NodeRef a = start.node(), b = end.node();
  if (!start.timing() || !end.timing() || !a || !b) return Error::InvalidHandle;
  if (a.pending() || b.pending()) return Error::NotReady;
  const auto from = Executor::told_end(a), to = Executor::told_end(b);
  if (from && to) return ms = static_cast<float>((*to - *from) * 1e-6), Error::Success;
  ms = static_cast<float>(static_cast<double>(static_cast<i64>(b->end_ns - a->end_ns)) * 1e-6);
  return Error::Success;
}

}  // namespace us::driver
