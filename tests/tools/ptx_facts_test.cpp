// SPDX-License-Identifier: Apache-2.0
#include "tools/ptx_facts.h"

#include <gtest/gtest.h>

#include "ptx/ptx.h"

namespace us::tools {
namespace {

ModuleFacts facts(std::string_view body) {
  const std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n" + std::string(body);
  auto module = ptx::parse(text, "test");
  EXPECT_TRUE(module) << (module ? "" : module.diags()[0].message);
  return module ? examine_module(**module) : ModuleFacts();
}

TEST(PtxFacts, DescribesAKernel) {
  const ModuleFacts m = facts(R"(
    .visible .entry _Z1kPi(.param .u64 a, .param .f32 b) .maxntid 256, 1, 1 .minnctapersm 2 {
      .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<2>;
      .shared .align 4 .b8 s[100];
      mov.u32 %r2, s;
      add.s32 %r1, %r2, %r3;
      setp.eq.s32 %p1, %r1, 0;
      @%p1 bra done;
      add.s32 %r1, %r1, %r1;
    done:
      ret;
    })");
  EXPECT_EQ(m.version, 90u);
  EXPECT_EQ(m.target, "sm_90");
  ASSERT_EQ(m.functions.size(), 1u);
  const FunctionFacts& k = m.functions[0];
  EXPECT_TRUE(k.kernel);
  EXPECT_EQ(k.readable, "k(int*)");
  ASSERT_EQ(k.parameters.size(), 2u);
  EXPECT_EQ(k.parameters[1].type, "f32");
  EXPECT_EQ(k.parameter_bytes, 12u);
  EXPECT_EQ(k.shared_bytes, 100u);
  EXPECT_EQ(k.instructions, 4u);
  EXPECT_EQ(k.limits, (std::vector<std::string>{".maxntid 256,1,1", ".minnctapersm 2"}));
  EXPECT_GT(k.registers.at("b32"), 0u);
}

TEST(PtxFacts, NamesWhatIsMissing) {
  const ModuleFacts m = facts(R"(
    .extern .func elsewhere;
    .visible .entry k() {
      .reg .b32 %r<5>;
      frobnicate.b32 %r1, %r2;
      add.s32 %r1, %r2, %r3;
      ret;
    })");
  EXPECT_EQ(m.unknown, (std::map<std::string, u32>{{"frobnicate.b32", 1}}));
  EXPECT_EQ(m.external, std::vector<std::string>{"elsewhere"});
  EXPECT_EQ(m.instructions, 2u);
}

}  // namespace
}  // namespace us::tools
