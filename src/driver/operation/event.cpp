// SPDX-License-Identifier: Apache-2.0
#include "driver/operation/event.h"

namespace us::driver {

NodeRef EventRecord::node(Executor& e) const {
  const std::shared_ptr<SharedEvent>& shared = event->shared();
  NodeRef n = shared ? e.make(Node::Kind::Work) : make_node(e, kType);
  n->timed = event->timing();
  if (shared) {
    n->small = n->always = true;
    n->work = [shared, number = shared->record()] { shared->complete(number); };
  }
  event->recorded(n);
  return n;
}

// The record may be another process's.
NodeRef EventWait::node(Executor& e, NodeRef& after) const {
  after = event->node();
  if (after.counts()) return make_node(e, kType);
  after = {};
  const std::shared_ptr<SharedEvent>& shared = event->shared();
  const u64 number = shared ? shared->recorded() : 0;
  if (!shared || shared->complete_up_to(number)) return {};
  NodeRef n = e.make(Node::Kind::Poll);
  n->until = [shared, number] { return shared->complete_up_to(number); };
  return n;
}

}  // namespace us::driver
