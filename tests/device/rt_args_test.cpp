// SPDX-License-Identifier: Apache-2.0
// The names of arguments are those of the rows of 32 lanes that compiled code writes.
#include "device/abi/rt_args.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace us::device {
namespace {

constexpr std::size_t row(std::size_t k) { return k * kWarpSize * sizeof(u64); }

TEST(RtArgs, AFieldIsTheRowOfItsPlaceInTheTable) {
  EXPECT_EQ(offsetof(CpTensorArgs, code), row(0));
  EXPECT_EQ(offsetof(CpTensorArgs, ctas), row(4));
  EXPECT_EQ(offsetof(CpTensorArgs, c), row(5));
  EXPECT_EQ(offsetof(CpTensorArgs, o), row(10));
  EXPECT_EQ(sizeof(CpTensorArgs), row(13));
  EXPECT_EQ(offsetof(BarPollResults, value), row(1));
}

TEST(RtArgs, ARowWithoutArgumentsIsEmpty) {
  EXPECT_TRUE(std::is_empty_v<TrapArgs>);
  EXPECT_TRUE(takes(RtFn::Trap, 0));
  EXPECT_FALSE(takes(RtFn::Trap, 1));
  EXPECT_FALSE(gives(RtFn::Trap, 1));
}

TEST(RtArgs, ACallPassesAsManyArgumentsAsTheRowHas) {
  EXPECT_TRUE(takes(RtFn::CpTensor, 13));
  EXPECT_FALSE(takes(RtFn::CpTensor, 12));
  EXPECT_FALSE(takes(RtFn::CpTensor, 14));
}

TEST(RtArgs, ManyMeansOneToAll) {
  EXPECT_FALSE(takes(RtFn::Mma, 0));
  EXPECT_TRUE(takes(RtFn::Mma, 1));
  EXPECT_TRUE(takes(RtFn::Mma, kMaxRtArgs));
  EXPECT_FALSE(takes(RtFn::Mma, kMaxRtArgs + 1));
}

TEST(RtArgs, ACallMayAskForFewerResults) {
  EXPECT_TRUE(gives(RtFn::Wgmma, 2));
  EXPECT_TRUE(gives(RtFn::Wgmma, 4));
  EXPECT_FALSE(gives(RtFn::Wgmma, 5));
}

TEST(RtArgs, NoRowIsWiderThanTheBuildersHaveRoomFor) {
  for (u32 k = 0; k < static_cast<u32>(RtFn::Count); ++k) {
    EXPECT_LE(shape_of(static_cast<RtFn>(k)).args, kMaxRtArgs) << k;
    EXPECT_LE(shape_of(static_cast<RtFn>(k)).results, kMaxRtResults) << k;
  }
}

}  // namespace
}  // namespace us::device
