// SPDX-License-Identifier: Apache-2.0
// Tells the observer of the process of the work graph. Exists only where there is one.
#pragma once
#include <atomic>
#include <span>

#include "driver/order/node.h"

namespace us::driver {

class Telling {
 public:
  explicit Telling(probe::Observer& o) : observer_(o) {}
  u64 next_node() { return nodes_.fetch_add(1, std::memory_order_relaxed); }
  void submitted(Node&, std::span<const NodeRef> after, const NodeRef& overlaps = {});
  void complete(const Node&);
  void waited(const Node&);  // the calling thread knows that it is complete
  void begins(const Node&);  // a function of the host
  // Of operations on values in memory.
  void values(probe::Work::Kind, const Node&, std::vector<probe::Work::Value>);
  std::optional<double> end_of(const Node& n) { return observer_.end_of(n.id); }

 private:
  void tell(probe::Work::Kind, const Node&);
  probe::Observer& observer_;
  std::atomic<u64> nodes_{1};
};

}  // namespace us::driver
