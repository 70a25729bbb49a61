// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/late_results.h"

#include <algorithm>

#include "ir/edit.h"

namespace us::codegen {

using ir::Inst;
using ir::Operand;
using ir::ValueId;
using isa::Form;

namespace {
constexpr std::size_t kAtOnce = 8;

bool is_product(Form f) {
  return f == Form::wgmma_mma_async || f == Form::wgmma_mma_async_popc || f == Form::wgmma_mma_async_sp;
}
bool is_move(const ir::Function& f, const Inst& i) {
  return i.form == Form::mov && i.guard.kind == Operand::Kind::None && i.ops[0].kind == Operand::Kind::Value &&
         i.ops[1].kind == Operand::Kind::Value && f.regs[i.ops[0].value.v] == ir::Width::B32 &&
         f.regs[i.ops[1].value.v] == ir::Width::B32;
}

// Blocks that begin with a product under way, as far as one can see without running.
std::vector<u8> pending_at_start(const ir::Function& f) {
  std::vector<u8> pending(f.blocks.size(), 0);
  for (bool again = true; again;) {
    again = false;
    for (std::size_t b = 0; b < f.blocks.size(); ++b) {
      bool p = pending[b];
      for (const Inst& i : f.blocks[b].insts) {
        if (is_product(i.form)) p = true;
        if (i.form == Form::wgmma_wait_group && i.ops[0].imm == 0) p = false;
      }
      for (ir::BlockId t : f.blocks[b].term.targets)
        if (p && !pending[t.v]) pending[t.v] = 1, again = true;
    }
  }
  return pending;
}

// Registers that a product may write: those it names, and those that they are moved to while it is under way.
class Registers {
 public:
  explicit Registers(ir::Function& f) : f_(f), in_(f.regs.size(), 0), pending_(pending_at_start(f)) {
    for (ir::Block& b : f.blocks)
      for (Inst& i : b.insts)
        if (is_product(i.form)) ir::for_each_def(i, [&](ValueId v) { in_[v.v] = 1; });
    for (bool again = true; again;) {
      again = false;
      for (u32 b = 0; b < f.blocks.size(); ++b) {
        bool pending = pending_[b];
        for (const Inst& i : f.blocks[b].insts)
          if (moves(i, pending) && !in_[i.ops[0].value.v]) in_[i.ops[0].value.v] = 1, again = true;
      }
    }
    for (u32 v = 0; v < in_.size(); ++v)
      if (in_[v]) all.push_back(ValueId{v});
  }
  bool pending(u32 block) const { return pending_[block]; }
  // Moves this instruction such a register? `pending` goes along.
  bool moves(const Inst& i, bool& pending) const {
    if (is_product(i.form)) pending = true;
    if (i.form == Form::wgmma_wait_group && i.ops[0].imm == 0) pending = false;
    return pending && is_move(f_, i) && in_[i.ops[1].value.v];
  }
  std::vector<ValueId> all;

 private:
  const ir::Function& f_;
  std::vector<u8> in_, pending_;
};

Inst moved(const Inst& move) {
  Inst i;
  i.form = Form::wgmma_moved;
  i.ops = {ir::literal(move.ops[0].value.v), ir::literal(move.ops[1].value.v)};
  i.loc = move.loc;
  return i;
}

void add_keys(Inst& product) {
  product.late.named = true;
  for (const Operand& o : product.ops[0].elems)
    product.late.keys.push_back(o.kind == Operand::Kind::Value ? o.value.v : ~0u);
}

Inst wait(i64 groups, const SrcLoc& loc) {
  Inst i;
  i.form = Form::wgmma_wait_group;
  i.ops = {ir::literal(groups)};
  i.late.named = true;
  i.loc = loc;
  return i;
}

void add_results(const std::vector<ValueId>& registers, const SrcLoc& loc, std::vector<Inst>& to) {
  for (std::size_t k = 0; k < registers.size(); k += kAtOnce) {
    Inst i;
    i.form = Form::wgmma_results;
    i.loc = loc;
    i.ops.resize(3);
    for (Operand& o : i.ops) o.kind = Operand::Kind::Vector;
    for (std::size_t n = k; n < std::min(k + kAtOnce, registers.size()); ++n) {
      i.ops[0].elems.push_back(ir::reg(registers[n]));
      i.ops[1].elems.push_back(ir::reg(registers[n]));
      i.ops[2].elems.push_back(ir::literal(registers[n].v));
    }
    to.push_back(std::move(i));
  }
}

// Every register has a value, even where no product has been issued yet.
void clear(const std::vector<ValueId>& registers, ir::Block& entry) {
  std::vector<Inst> first;
  for (ValueId v : registers) first.push_back(ir::make_move(ir::Width::B32, ir::reg(v), ir::literal(0), {}));
  ir::prepend(entry, std::move(first));
}
}  // namespace

void name_late_results(ir::Function& f) {
  const Registers found(f);
  const std::vector<ValueId>& registers = found.all;
  if (registers.empty()) return;
  for (u32 n = 0; n < f.blocks.size(); ++n) {
    ir::Block& b = f.blocks[n];
    std::vector<Inst> insts;
    bool pending = found.pending(n);
    auto wait_for_all = [&](const SrcLoc& loc) {
      insts.push_back(wait(-1, loc));  // not committed ones, too
      add_results(registers, loc, insts);
    };
    for (Inst& i : b.insts) {
      if (!i.call.empty()) wait_for_all(i.loc);
      const bool moves = found.moves(i, pending);
      if (is_product(i.form)) add_keys(i);
      const bool waits = i.form == Form::wgmma_wait_group;
      if (waits || i.form == Form::wgmma_commit_group) i.late.named = true;
      const SrcLoc loc = i.loc;
      insts.push_back(std::move(i));
      if (moves) insts.push_back(moved(insts.back()));
      if (waits) add_results(registers, loc, insts);
    }
    if (b.term.kind == ir::Terminator::Kind::Ret) wait_for_all(b.term.loc);
    b.insts = std::move(insts);
  }
  clear(registers, f.blocks[0]);
}

}  // namespace us::codegen
