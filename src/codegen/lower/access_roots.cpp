// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/access_roots.h"

#include "codegen/semantics/memory.h"
#include "ir/edit.h"

namespace us::codegen {

namespace {

using ir::Operand;

// ld, st, atom and red of global memory: their addresses are tested as they stand.
bool is_global_access(const ir::Inst& i) {
  if (i.form == isa::Form::Unknown || !i.has(isa::Tok::global)) return false;
  const SemFn s = semantics_of(i.form);
  return s == &sem_ld || s == &sem_st || s == &sem_atom || s == &sem_red;
}
bool near(i64 d) { return d > -(i64{1} << 36) && d < i64{1} << 36; }

// Can a block read the value as it is, not each lane its own last one?
class AtHand {
 public:
  AtHand(const ir::Function& f, const ir::Cfg& cfg, const Analysis& a) : cfg_(cfg), a_(a), def_(f.regs.size(), 0) {
    for (u32 b = 0; b < f.blocks.size(); ++b) {
      for (const ir::Phi& p : f.blocks[b].phis) def_[p.dest.v] = b;
      for (const ir::Inst& i : f.blocks[b].insts) ir::for_each_def(i, [&](ir::ValueId d) { def_[d.v] = b; });
    }
  }
  bool operator()(ir::ValueId v, u32 b) const {
    return a_.its || !a_.shadow[v.v] || !reads_shadow(a_, cfg_, v, def_[v.v], b);
  }

 private:
  const ir::Cfg& cfg_;
  const Analysis& a_;
  std::vector<u32> def_;
};

}  // namespace

void add_alignment_roots(ir::Function& f, const ir::Cfg& cfg, const Analysis& a, const std::vector<KnownBits>& known) {
  const AtHand at_hand(f, cfg, a);
  for (u32 b = 0; b < f.blocks.size(); ++b)
    for (ir::Inst& i : f.blocks[b].insts) {
      if (i.form == isa::Form::Unknown || isa::info(i.form).effects == isa::kPure) continue;
      for (const Operand& o : i.ops) {
        if (o.kind != Operand::Kind::Address || !o.value.valid()) continue;
        const KnownBits& low = known[o.value.v];
        if (low.root.valid() && at_hand(low.root, b)) i.roots.push_back(ir::reg(low.root));
      }
    }
}

BoundsPlan add_bounds_roots(const ir::Module& m, ir::Function& f, const ir::Cfg& cfg, const Analysis& a,
                            const std::vector<Reach>& reach) {
  const AtHand at_hand(f, cfg, a);
  BoundsPlan plan;
  std::map<u32, ir::DominatingBlocks> tested;  // by root
  for (u32 b : cfg.rpo)
    for (ir::Inst& i : f.blocks[b].insts) {
      if (!is_global_access(i)) continue;
      for (const Operand& o : i.ops) {
        if (o.kind != Operand::Kind::Address || !o.value.valid() || !near(o.imm)) continue;
        const Reach& r = reach[o.value.v];
        if (r.symbol.valid() && m.symbols[r.symbol.v].space == isa::Space::Global) {
          plan.covered.insert({&i, o.value.v});
          continue;
        }
        if (!r.root.valid() || !at_hand(r.root, b)) continue;
        ir::DominatingBlocks& blocks = tested[r.root.v];
        if (blocks.cover(cfg, b)) {
          plan.covered.insert({&i, o.value.v});
          continue;
        }
        if (r.root != o.value) i.roots.push_back(ir::reg(r.root));
        plan.by_root[{&i, o.value.v}] = r.root;
        if (i.guard.kind == Operand::Kind::None) blocks.add(cfg, b);
      }
    }
  return plan;
}

}  // namespace us::codegen
