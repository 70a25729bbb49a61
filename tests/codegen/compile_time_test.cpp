// SPDX-License-Identifier: Apache-2.0
// The time to compile a kernel grows with its length, whatever the shape of its branches.
#include <gtest/gtest.h>

#include "branch_shapes.h"

namespace us::codegen {
namespace {

class CompileTime : public testing::TestWithParam<Shape> {};

TEST_P(CompileTime, GrowsWithTheNumberOfBranches) {
  constexpr u32 kFew = 500, kTimes = 4;
  ASSERT_GE(seconds_to_compile(GetParam(), 10), 0);
  const double few = seconds_to_compile(GetParam(), kFew), many = seconds_to_compile(GetParam(), kTimes * kFew);
  ASSERT_GE(few, 0);
  ASSERT_GE(many, 0);
  EXPECT_LT(many, 2 * kTimes * few) << few << " s for " << kFew << " branches, " << many << " s for four times as many";
}

INSTANTIATE_TEST_SUITE_P(Shapes, CompileTime, testing::ValuesIn(branch_shapes().begin(), branch_shapes().end()),
                         [](const auto& s) { return std::string(s.param.name); });

}  // namespace
}  // namespace us::codegen
