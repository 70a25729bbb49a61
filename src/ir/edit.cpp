// SPDX-License-Identifier: Apache-2.0
#include "ir/edit.h"

#include <algorithm>
#include <iterator>

#include "isa/operands.h"

namespace us::ir {

Operand reg(ValueId v) {
  Operand o;
  o.kind = Operand::Kind::Value;
  o.value = v;
  return o;
}

Operand literal(i64 v) {
  Operand o;
  o.kind = Operand::Kind::Imm;
  o.imm = v;
  return o;
}

Operand address(SymId sym, i64 byte) {
  Operand o;
  o.kind = Operand::Kind::Address;
  o.sym = sym;
  o.imm = byte;
  return o;
}

Operand new_register(Function& f, Width w) {
  f.regs.push_back(w);
  return reg(ValueId{static_cast<u32>(f.regs.size() - 1)});
}

Inst make_inst(std::string_view mnemonic, std::vector<Operand> ops, const SrcLoc& loc) {
  const isa::Match m = isa::match(mnemonic);
  Inst i;
  i.form = m.form;
  i.toks = m.toks;
  i.types = m.types;
  i.type_count = m.type_count;
  i.ops = std::move(ops);
  i.ops.resize(isa::operands_of(m.form).specs.size());
  i.loc = loc;
  return i;
}

Inst make_move(Width w, Operand to, Operand from, const SrcLoc& loc) {
  static constexpr const char* names[] = {"mov.pred", "mov.b16", "mov.b16", "mov.b32", "mov.b64", "mov.b128"};
  return make_inst(names[static_cast<int>(w)], {std::move(to), std::move(from)}, loc);
}

Terminator jump(u32 to, const SrcLoc& loc) {
  Terminator t;
  t.kind = Terminator::Kind::Br;
  t.targets = {BlockId{to}};
  t.loc = loc;
  return t;
}

Terminator fork(const Operand& condition, u32 yes, u32 no, const SrcLoc& loc) {
  Terminator t;
  t.kind = Terminator::Kind::CondBr;
  t.cond = condition;
  t.targets = {BlockId{yes}, BlockId{no}};
  t.loc = loc;
  return t;
}

u32 add_blocks(Function& f, u32 count) {
  f.blocks.resize(f.blocks.size() + count);
  return static_cast<u32>(f.blocks.size()) - count;
}

static void insert(Block& b, std::vector<Inst>::iterator at, std::vector<Inst> insts) {
  b.insts.insert(at, std::make_move_iterator(insts.begin()), std::make_move_iterator(insts.end()));
}
void append(Block& b, std::vector<Inst> insts) { insert(b, b.insts.end(), std::move(insts)); }
void prepend(Block& b, std::vector<Inst> insts) { insert(b, b.insts.begin(), std::move(insts)); }

void cut(Function& f, u32 block, std::size_t k, u32 to) {
  Block& head = f.blocks[block];
  Block& tail = f.blocks[to];
  const auto from = head.insts.begin() + static_cast<std::ptrdiff_t>(k);
  tail.insts.assign(std::make_move_iterator(from), std::make_move_iterator(head.insts.end()));
  tail.term = std::move(head.term);
  head.insts.resize(k);
  head.term = Terminator{};
}

u32 split(Function& f, u32 block, std::size_t k) {
  const u32 rest = add_blocks(f);
  cut(f, block, k, rest);
  f.blocks[block].term = jump(rest, f.blocks[rest].term.loc);
  for (BlockId t : f.blocks[rest].term.targets)
    for (BlockId& p : f.blocks[t.v].preds)
      if (p.v == block) p = BlockId{rest};
  f.blocks[rest].preds = {BlockId{block}};
  return rest;
}

void update_preds(Function& f) {
  std::vector<std::vector<BlockId>> preds(f.blocks.size());
  for (u32 b = 0; b < f.blocks.size(); ++b)
    for (BlockId t : f.blocks[b].term.targets)
      if (preds[t.v].empty() || preds[t.v].back().v != b) preds[t.v].push_back(BlockId{b});
  for (u32 b = 0; b < f.blocks.size(); ++b) {
    Block& block = f.blocks[b];
    for (Phi& p : block.phis) {
      std::vector<Operand> in(preds[b].size());
      for (std::size_t k = 0; k < p.in.size(); ++k)
        in[static_cast<std::size_t>(std::ranges::find(preds[b], block.preds[k]) - preds[b].begin())] = p.in[k];
      p.in = std::move(in);
    }
    block.preds = std::move(preds[b]);
  }
}

}  // namespace us::ir
