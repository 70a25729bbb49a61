// SPDX-License-Identifier: Apache-2.0
// L1 as the model of time has it.
#include "timing/caches.h"

#include <gtest/gtest.h>

namespace us::timing {
namespace {

// CCTL.IVALL, behind each acquire: loads find nothing, local memory keeps what L2 has not.
TEST(L1, InvalidatedButForWhatIsToBeWrittenBack) {
  L1 cache(1 << 16);
  double arrives = 0;
  cache.fill(5, 15, 100), cache.write_back(6, 3);
  EXPECT_EQ(cache.missing(5, 15, arrives), 0u);
  cache.invalidate();
  EXPECT_EQ(cache.missing(5, 15, arrives), 15u);
  EXPECT_EQ(cache.missing(6, 15, arrives), 12u);
  cache.fill(5, 1, 200);
  EXPECT_EQ(cache.missing(5, 15, arrives), 14u);
}

TEST(L1, EachSectorArrives) {
  L1 l1(1 << 14);
  l1.fill(7, 3, 100), l1.fill(7, 15, 900);
  double arrives = 0;
  EXPECT_EQ(l1.missing(7, 1, arrives), 0u);
  EXPECT_EQ(arrives, 100);
  EXPECT_EQ(l1.missing(7, 6, arrives), 0u);
  EXPECT_EQ(arrives, 900);
}

// oracle/timing/lanes.txt: of words that a warp reads and changes in place one by one seven of eight loads hit, two by
// two half of them.
TEST(L1, ASecondStoreBeforeTheFirstHasLeftTakesTheLineOut) {
  double arrives = 0;
  for (const double second : {150.0, 250.0}) {
    L1 l1(1 << 14);
    l1.fill(7, 15, 0);
    l1.store(7, 100, 200), l1.store(7, second, second + 100);
    EXPECT_EQ(l1.missing(7, 15, arrives), second < 200 ? 15u : 0u) << second;
  }
}

}  // namespace
}  // namespace us::timing
