// SPDX-License-Identifier: Apache-2.0
// Accesses to 32 addresses on processors without an instruction for them (llvm/lane_access.cpp): one function of the
// module for all of one kind, seen in LLVM's IR. What they do is judged by tests/ptx on such a processor.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/jit.h"
#include "ptx/ptx.h"

namespace us::codegen {
namespace {

std::string ir_of(const std::string& body, const char* cpu) {
  auto m = ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
      ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\nld.param.u64 %d1, [a];\nmov.u32 %r1, %tid.x;\n"
      "mul.wide.u32 %d2, %r1, %r1;\nand.b64 %d2, %d2, 1020;\nadd.s64 %d3, %d1, %d2;\n" +
          body + "ret;\n}\n",
      "k.ptx");
  EXPECT_TRUE(m) << (m ? "" : m.diags()[0].message);
  if (!m) return "";
  Options o;
  std::string ir;
  o.cpu = cpu;
  o.dump_after = "split";
  o.show = [&ir](std::string_view text) { ir += text; };
  Variant v;
  v.block = {64, 1, 1};
  const auto code = Jit(o).compile(**m, "k", v);
  EXPECT_TRUE(code) << (code ? "" : code.diags()[0].message);
  return ir;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

std::string many_accesses() {
  std::string body;
  for (u32 k = 0; k < 20; ++k)
    body +=
        fmt::format("ld.global.u32 %r2, [%d3+{0}];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [%d3+{0}], %r2;\n", 1024 * k);
  return body;
}

TEST(LaneAccess, OneFunctionForAllOfAKind) {
  const std::string ir = ir_of(many_accesses(), "znver3");
  EXPECT_EQ(count(ir, "call <32 x i32> @llvm.masked.gather"), 0u);
  EXPECT_EQ(count(ir, "call void @llvm.masked.scatter"), 0u);
  EXPECT_EQ(count(ir, "define internal <32 x i32> @load_lanes"), 1u);
  EXPECT_EQ(count(ir, "define internal void @store_lanes"), 1u);
  EXPECT_EQ(count(ir, "call <32 x i32> @load_lanes"), 20u);
  EXPECT_EQ(count(ir, "call void @store_lanes"), 20u);
}

TEST(LaneAccess, ProcessorsThatHaveInstructionsUseThem) {
  const std::string ir = ir_of(many_accesses(), "icelake-server");
  EXPECT_EQ(count(ir, "_lanes("), 0u);
  EXPECT_GE(count(ir, "@llvm.masked.gather"), 20u);
  EXPECT_GE(count(ir, "@llvm.masked.scatter"), 20u);
}

}  // namespace
}  // namespace us::codegen
