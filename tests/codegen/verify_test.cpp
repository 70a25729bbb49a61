// SPDX-License-Identifier: Apache-2.0
// What ir::verify says of functions with one fault each.
#include "ir/verify.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "ir/edit.h"
#include "ir/ssa.h"
#include "ptx/ptx.h"

namespace us::ir {
namespace {

// r1 is 1 or 2 by way of a branch, and is stored.
std::unique_ptr<Module> module() {
  auto m = ptx::parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
      ".reg .b32 %r<3>; .reg .b64 %d<2>; .reg .pred %p<2>;\n"
      "ld.param.u64 %d1, [a]; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; mov.u32 %r1, 1;\n"
      "@%p1 bra out; mov.u32 %r1, 2;\nout: @%p1 add.u32 %r1, %r1, 3; st.global.u32 [%d1], %r1; ret;\n}\n",
      "test");
  return m ? std::move(*m) : nullptr;
}

// Breaks the function, in SSA form or as it is parsed, and gives what verify says first.
std::string said(bool ssa, const std::function<void(Function&)>& damage) {
  const auto m = module();
  Function& f = m->functions[0];
  Cfg c;
  if (ssa) {
    remove_unreachable(f);
    c = analyze_cfg(f, true);
    build_ssa(f, c);
  }
  damage(f);
  const std::vector<Diag> wrong = verify(*m, f, ssa ? &c : nullptr);
  return wrong.empty() ? "" : wrong[0].message;
}
void expect(bool ssa, const std::function<void(Function&)>& damage, const char* what) {
  const std::string text = said(ssa, damage);
  EXPECT_NE(text.find(what), text.npos) << "said: " << text << "\nwanted: " << what;
}

TEST(Verify, WhatIsRightIsAccepted) {
  EXPECT_EQ(said(false, [](Function&) {}), "");
  EXPECT_EQ(said(true, [](Function&) {}), "");
}

TEST(Verify, Instructions) {
  expect(
      false, [](Function& f) { f.blocks[0].insts[1].ops.push_back(literal(1)); },
      "k: block0: `mov.u32 %2, %tid.x, 1`: 3 operands, 2 in the row");
  expect(
      false, [](Function& f) { f.blocks[0].insts[1].ops[0].value.v = 99; }, "no register %99");
  expect(
      false, [](Function& f) { f.blocks[0].insts[0].ops[1].sym.v = 99; }, "no symbol 99");
  expect(
      false, [](Function& f) { f.blocks[0].insts[1].ops[0] = f.blocks[0].insts[0].ops[0]; }, "has 64 bits where u32");
  expect(
      false, [](Function& f) { f.blocks[0].insts[1].ops[0] = literal(1); }, "a destination that is no register");
  expect(
      false, [](Function& f) { f.blocks[0].insts[1].ops[1] = {}; }, "an operand is missing");
  expect(
      false, [](Function& f) { f.blocks[0].insts[1].guard = f.blocks[0].insts[1].ops[0]; },
      "a guard that is no predicate");
  expect(
      false, [](Function& f) { f.blocks[0].insts[1].form = isa::Form::Count; }, "no such row");
  expect(
      false, [](Function& f) { f.blocks[0].insts[1].ops[1].sreg = isa::SReg::Count; }, "special register");
  expect(
      false, [](Function& f) { f.blocks[0].insts[1].form = isa::Form::Unknown; }, "none for what has no row");
}

TEST(Verify, Blocks) {
  expect(
      false, [](Function& f) { f.blocks[1].term.targets[0].v = 77; }, "no block77");
  expect(
      false, [](Function& f) { f.blocks[0].term.targets.pop_back(); }, "the wrong number of targets");
  expect(
      false, [](Function& f) { f.blocks[0].term.cond = {}; }, "none where something is");
  expect(
      false, [](Function& f) { f.blocks.clear(); }, "a function without blocks");
  expect(
      true, [](Function& f) { std::swap(f.blocks[2].preds[0], f.blocks[2].preds[1]); }, "`preds` are not the blocks");
  expect(
      true, [](Function& f) { add_blocks(f); }, "the Cfg is of other edges");
}

TEST(Verify, Ssa) {
  expect(
      true, [](Function& f) { f.blocks[2].phis[0].in.pop_back(); }, "1 inputs for 2 predecessors");
  expect(
      true, [](Function& f) { f.blocks[2].phis[0].in[0] = f.blocks[2].phis[0].in[1]; }, "does not reach");
  expect(
      true, [](Function& f) { std::swap(f.blocks[0].insts[1], f.blocks[0].insts[2]); }, "does not reach");
  expect(
      true, [](Function& f) { f.blocks[1].insts.push_back(f.blocks[0].insts[1]); }, "is defined twice");
  expect(
      true, [](Function& f) { f.blocks[0].insts.erase(f.blocks[0].insts.begin()); }, "is used, but never defined");
  expect(
      true, [](Function& f) { f.blocks[2].insts[0].merge.clear(); }, "not one `merge` entry per definition");
  expect(
      true, [](Function& f) { f.blocks[2].insts[1].merge.push_back(literal(1)); },
      "`merge` of an instruction without guard");
  expect(
      true, [](Function& f) { f.origin.pop_back(); }, "`origin` has not one entry per value");
}

}  // namespace
}  // namespace us::ir
