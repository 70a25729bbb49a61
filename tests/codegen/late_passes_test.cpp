// SPDX-License-Identifier: Apache-2.0
// What LLVM's code generator would take too long for is not given to it: many choices of whole vectors by one condition
// (llvm/vector_selects.cpp), many loads in a row (llvm/split_blocks.cpp).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/jit.h"
#include "ptx/ptx.h"

namespace us::codegen {
namespace {

// n numbers are kept or made zero, as a parameter says.
std::string ir_of(u32 n) {
  std::string text = fmt::format(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n) {{\n"
      ".reg .f32 %f<{}>;\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n.reg .pred %p<2>;\nld.param.u64 %d1, [a];\n"
      "ld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\nmul.wide.u32 %d2, %r2, 4;\nadd.s64 %d3, %d1, %d2;\n"
      "setp.ne.u32 %p1, %r1, 0;\n",
      n);
  for (u32 k = 0; k < n; ++k) text += fmt::format("ld.global.f32 %f{}, [%d3+{}];\n", k, 128 * k);
  for (u32 k = 0; k < n; ++k) text += fmt::format("selp.f32 %f{0}, %f{0}, 0f00000000, %p1;\n", k);
  for (u32 k = 0; k < n; ++k) text += fmt::format("st.global.f32 [%d3+{}], %f{};\n", 128 * k, n - 1 - k);
  auto m = ptx::parse(text + "ret;\n}\n", "k.ptx");
  EXPECT_TRUE(m) << (m ? "" : m.diags()[0].message);
  if (!m) return "";
  std::string ir;
  Options o;
  o.dump_after = "split";
  o.show = [&ir](std::string_view shown) { ir += shown; };
  Variant v;
  v.block = {32, 1, 1};
  const auto code = Jit(o).compile(**m, "k", v);
  EXPECT_TRUE(code) << (code ? "" : code.diags()[0].message);
  return ir;
}

u32 count(const std::string& text, const std::string& what) {
  u32 n = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(VectorSelects, ManyOfABlockGetTheirConditionInEachLane) {
  const std::string ir = ir_of(40);
  EXPECT_EQ(count(ir, "select <32 x i1>"), 40u);
  EXPECT_EQ(count(ir, "select i1"), 0u);
}
TEST(VectorSelects, AFewKeepOneCondition) {
  const std::string ir = ir_of(4);
  EXPECT_EQ(count(ir, "select i1"), 4u);
  EXPECT_EQ(count(ir, "select <32 x i1>"), 0u);
}

TEST(SplitBlocks, ManyLoadsBetweenWhichNothingIsWritten) {
  const u32 few = count(ir_of(60), "br label"), many = count(ir_of(200), "br label");
  EXPECT_GE(many, few + 3);
}

}  // namespace
}  // namespace us::codegen
