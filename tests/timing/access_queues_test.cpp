// SPDX-License-Identifier: Apache-2.0
#include "timing/access_queues.h"

#include <gtest/gtest.h>

namespace us::timing {
namespace {

QueuedAccess access(u32 warp, double now) { return {.warp = warp, .now = now}; }

TEST(AccessQueues, SubPartitionsTakeTurns) {
  AccessQueues q;
  for (u32 k = 0; k < 3; ++k) q.push(0, access(k, k));
  q.push(1, access(10, 2)), q.push(3, access(30, 2));
  EXPECT_EQ(q.first(), QueuedAccess::kWay);
  std::vector<u32> order;
  while (!q.empty()) order.push_back(q.pop(100).second.warp);
  EXPECT_EQ(order, (std::vector<u32>{10, 30, 0, 1, 2}));
}

TEST(AccessQueues, WhoHasNotArrivedIsPassedOver) {
  AccessQueues q;
  q.push(0, access(1, 0)), q.push(1, access(2, 50));
  EXPECT_EQ(q.pop(QueuedAccess::kWay).first, 0u);
  EXPECT_EQ(q.first(), 50 + QueuedAccess::kWay);
}

TEST(AccessQueues, AnAccessThatDidNotWaitWasATurn) {
  AccessQueues q;
  q.passed(2);
  q.push(2, access(1, 0)), q.push(3, access(2, 0));
  EXPECT_EQ(q.pop(100).first, 3u);
}

}  // namespace
}  // namespace us::timing
