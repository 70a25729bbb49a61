// SPDX-License-Identifier: Apache-2.0
// Basic blocks and how control leaves them.
#include <algorithm>

#include "ptx/parser.h"

namespace us::ptx {

namespace {
constexpr u32 kRef = 0x80000000u;
}  // namespace

u32 Parser::new_block(std::string label) {
  ir::Block b;
  b.label = std::move(label);
  b.term.kind = ir::Terminator::Kind::Unreachable;
  fn_.blocks.push_back(std::move(b));
  return static_cast<u32>(fn_.blocks.size() - 1);
}

void Parser::terminate(ir::Terminator t) {
  if (!dead_) fn_.blocks[block_].term = std::move(t);
  dead_ = true;
}

void Parser::start_block(u32 b) {
  ir::Terminator t;
  t.kind = ir::Terminator::Kind::Br;
  t.targets = {ir::BlockId{b}};
  t.loc = source_loc(cur_);
  terminate(std::move(t));
  block_ = b;
  dead_ = false;
}

ir::BlockId Parser::label_ref(std::string_view name, SrcLoc loc) {
  label_refs_.push_back({name, loc, ~0u});
  scopes_.back().label_refs.push_back(static_cast<u32>(label_refs_.size() - 1));
  return ir::BlockId{static_cast<u32>(label_refs_.size() - 1) | kRef};
}

// The shared block behind guarded ret or exit.
u32 Parser::exit_block(ir::Terminator::Kind kind) {
  u32& b = kind == ir::Terminator::Kind::Ret ? ret_block_ : exit_block_;
  if (b == ~0u) {
    const u32 made = new_block("");
    fn_.blocks[made].term.kind = kind;
    fn_.blocks[made].term.loc = source_loc(cur_);
    b = made;
  }
  return b;
}

void Parser::leave(ir::Terminator::Kind kind, const ir::Operand& guard) {
  const bool returns_register =
      std::any_of(register_params_.begin(), register_params_.end(), [](auto& p) { return p.ret; });
  ir::Terminator t;
  t.kind = kind;
  t.loc = source_loc(cur_);
  t.written = true;
  if (guard.kind == ir::Operand::Kind::None) {
    if (kind == ir::Terminator::Kind::Ret && returns_register && !dead_) {
      t.kind = ir::Terminator::Kind::Br;
      t.targets = {ir::BlockId{exit_block(kind)}};
    }
    return terminate(std::move(t));
  }
  if (dead_) return;
  u32 out;
  if (kind == ir::Terminator::Kind::Trap) {
    out = new_block("");
    fn_.blocks[out].term = t;
    fn_.blocks[out].term.written = false;  // the branch to it is
  } else {
    out = exit_block(kind);
  }
  const u32 on = new_block("");
  t.kind = ir::Terminator::Kind::CondBr;
  t.cond = guard;
  t.targets = {ir::BlockId{out}, ir::BlockId{on}};
  terminate(std::move(t));
  block_ = on;
  dead_ = false;
}

ir::Inst* Parser::append() {
  if (!dead_) return &fn_.blocks[block_].insts.emplace_back();
  scratch_ = {};
  return &scratch_;
}

}  // namespace us::ptx
