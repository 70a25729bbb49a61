// SPDX-License-Identifier: Apache-2.0
// Accesses that wait for the unit of loads and stores, which takes one of each sub-partition in turn
// (oracle/timing/joins.txt: of records that four warps store field by field none leave together, if all four do not
// fit in the places for lines).
#pragma once
#include <algorithm>
#include <deque>
#include <limits>

#include "timing/partition.h"

namespace us::timing {

struct QueuedAccess {
  u32 warp = 0, pc = 0, visit = 0;
  u32 place = 0;   // in the queue of its sub-partition
  double now = 0;  // when it was dispatched
  static constexpr double kWay = 4;
  double arrives() const { return now + kWay; }
};

class AccessQueues {
 public:
  bool empty() const { return count_ == 0; }
  void push(u32 partition, const QueuedAccess& a) { queues_[partition].push_back(a), ++count_; }
  double first() const {  // when the first of them arrives
    double at = std::numeric_limits<double>::infinity();
    for (const auto& q : queues_)
      if (!q.empty()) at = std::min(at, q.front().arrives());
    return at;
  }
  // The next one of those that have arrived, and its sub-partition.
  std::pair<u32, QueuedAccess> pop(double at) {
    do last_ = (last_ + 1) % kPartitions;
    while (queues_[last_].empty() || queues_[last_].front().arrives() > at);
    const QueuedAccess a = queues_[last_].front();
    queues_[last_].pop_front(), --count_;
    return {last_, a};
  }
  void passed(u32 partition) { last_ = partition; }  // an access that did not wait

 private:
  std::deque<QueuedAccess> queues_[kPartitions];
  u32 last_ = 0;
  u64 count_ = 0;
};

}  // namespace us::timing
