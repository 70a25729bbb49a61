// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <gtest/gtest.h>

namespace {

TEST(Parallel, EachIndexOnce) {
  for (const std::size_t n : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> times(n);
    us::for_each_index(n, [&](std::size_t k) { ++times[k]; });
    for (const auto& t : times) EXPECT_EQ(t, 1);
  }
}

}  // namespace
