// SPDX-License-Identifier: Apache-2.0
// Passes take time that grows with the length of the kernel.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/lower/lower.h"
#include "ptx/ptx.h"

namespace us::codegen {
namespace {

// Twenty thousand arms, each with a store into one array: none speaks for another. To compare each with all others, and
// each pair by way of all blocks above, takes hours.
TEST(LowerTime, ManyArmsOfOneRoot) {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p0) {\n"
      ".reg .b32 %r<4>; .reg .pred %p<2>; .reg .b64 %d<4>;\nld.param.u64 %d1, [p0]; mov.u32 %r1, %tid.x;\n";
  for (u32 k = 0; k < 20000; ++k)
    text += fmt::format(
        "setp.gt.s32 %p1, %r1, {0}; @%p1 bra L{1}; mul.wide.s32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
        "st.global.u32 [%d3], %r1; L{1}: xor.b32 %r1, %r1, {0};\n",
        k * 13 % 101, k);
  auto m = ptx::parse(text + "ret; }\n", "big.ptx");
  ASSERT_TRUE(m);
  PassWatch watch;
  watch.verify = false;
  Lowering all(**m, CodeFacts(), watch);
  const Lowered l = lower(all, ir::FuncId{0});
  EXPECT_EQ(l.bounds.by_root.size(), 20000u);
  double ms = 0;
  for (const PassTime& t : all.passes.times()) ms += t.ms;
  EXPECT_LT(ms, 15000);
}

}  // namespace
}  // namespace us::codegen
