// SPDX-License-Identifier: Apache-2.0
// Which loops count as waits for other blocks, around barriers.
#include "codegen/lower/waits.h"

#include <gtest/gtest.h>

#include <memory>

#include "ir/ssa.h"
#include "ptx/ptx.h"

namespace us::codegen {
namespace {

// Does some loop of a kernel with this body wait around a barrier?
bool waits(const std::string& body) {
  const std::string text =
      ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p0)\n{\n"
      ".reg .b32 %r<9>; .reg .b64 %g; .reg .pred %p<9>; .shared .b32 told;\n"
      "ld.param.u64 %g, [p0]; mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0;\n" +
      body + "\n}\n";
  auto parsed = ptx::parse(text, "test");
  if (!parsed) {
    ADD_FAILURE() << parsed.diags()[0].message;
    return false;
  }
  std::unique_ptr<ir::Module> m = std::move(*parsed);
  ir::Function& f = m->functions[0];
  ir::remove_unreachable(f);
  ir::separate_loops(f);
  const ir::Cfg c = ir::analyze_cfg(f, true);
  ir::build_ssa(f, c);
  const Waits w(f, c);
  bool any = false;
  for (int l = 0; l < static_cast<int>(c.loops.size()); ++l) any = any || w.around_barrier(l);
  return any;
}

// The first thread does something, all see the word it stored, and go round until it is not negative.
std::string loop(const std::string& first_does, const std::string& rest = "") {
  return "top: @%p0 bra all;\n" + first_does +
         "\nst.shared.u32 [told], %r1;\nall: bar.sync 0; ld.shared.u32 %r2, [told];\n" + "bar.sync 0;\n" + rest +
         "setp.lt.s32 %p1, %r2, 0; @%p1 bra top; ret;";
}

TEST(Waits, OneThreadLooks) {
  EXPECT_TRUE(waits(loop("ld.volatile.global.u32 %r1, [%g];")));
  EXPECT_TRUE(waits(loop("ld.acquire.gpu.global.u32 %r1, [%g];")));
  EXPECT_TRUE(waits(loop("atom.global.cas.b32 %r1, [%g], 1, 2;")));
  EXPECT_TRUE(waits(loop("atom.global.add.u32 %r1, [%g], 0;")));
}

TEST(Waits, WhatIsSeenChoosesTheWay) {
  EXPECT_TRUE(
      waits("mov.u32 %r3, 0;\ntop: @%p0 bra all; ld.volatile.global.u32 %r1, [%g]; st.shared.u32 [told], %r1;\n"
            "all: bar.sync 0; ld.shared.u32 %r2, [told]; bar.sync 0; setp.lt.s32 %p1, %r2, 0; @%p1 bra on;\n"
            "mov.u32 %r3, 1;\non: setp.eq.u32 %p2, %r3, 0; @%p2 bra top; ret;"));
}

TEST(Waits, WorkIsGivenOut) {
  EXPECT_FALSE(waits(loop("atom.global.add.u32 %r1, [%g], 1;")));
  EXPECT_FALSE(waits(loop("ld.global.u32 %r1, [%g];")));
}

// The wait for all blocks is a loop of its own; the loop around it goes on until a plain word says so.
TEST(Waits, GridBarrierInALoop) {
  const std::string barrier = "poll: ld.acquire.gpu.global.u32 %r4, [%g]; setp.eq.u32 %p2, %r4, 7; @%p2 bra poll;\n";
  EXPECT_FALSE(waits(loop("ld.global.u32 %r1, [%g];", barrier)));
}

// A loop within looks at each of some words once; what it saw decides whether the loop around a barrier goes on.
TEST(Waits, LooksLieInALoopWithin) {
  EXPECT_TRUE(
      waits("top: bar.sync 0; mov.u32 %r3, 0; mov.u32 %r5, 0;\n"
            "each: ld.volatile.global.u32 %r1, [%g]; setp.ge.s32 %p1, %r1, 0; @%p1 bra on; mov.u32 %r5, 1;\n"
            "on: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; @%p2 bra each;\n"
            "setp.ne.u32 %p3, %r5, 0; @%p3 bra top; ret;"));
}

// A condition on loaded data that does not decide the loop.
TEST(Waits, DataInACountedLoop) {
  EXPECT_FALSE(
      waits("mov.u32 %r3, 0;\ntop: ld.volatile.global.u32 %r1, [%g]; ld.global.u32 %r2, [%g+4]; bar.sync 0;\n"
            "setp.lt.s32 %p1, %r2, 0; @%p1 bra on; st.global.u32 [%g+8], %r1;\n"
            "on: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; @%p2 bra top; ret;"));
}

}  // namespace
}  // namespace us::codegen
