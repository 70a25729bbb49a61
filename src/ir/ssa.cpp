// SPDX-License-Identifier: Apache-2.0
#include "ir/ssa.h"

#include <algorithm>
#include <numeric>

namespace us::ir {
namespace {

class SsaBuilder {
 public:
  SsaBuilder(Function& f, const Cfg& c) : f_(f), c_(c), n_(static_cast<u32>(f.blocks.size())) {}

  void run() {
    collect_definitions();
    compute_liveness();
    compute_frontiers();
    place_phis();
    stacks_.resize(f_.regs.size());
    first_ssa_ = static_cast<u32>(f_.regs.size());
    f_.origin.resize(first_ssa_);
    std::iota(f_.origin.begin(), f_.origin.end(), 0u);
    rename_all();
    f_.ssa = true;
  }

 private:
  using Bits = std::vector<u64>;
  static bool get(const Bits& b, u32 i) { return (b[i / 64] >> (i % 64)) & 1; }
  static void set(Bits& b, u32 i) { b[i / 64] |= u64{1} << (i % 64); }

  template <class F>
  void uses_of(Inst& i, F&& f) {
    for_each_use(i, [&](Operand& o) { f(o.value); });
    if (i.guard.kind == Operand::Kind::Value)
      for_each_def(i, [&](ValueId v) { f(v); });  // kept where the guard is false
  }

  void collect_definitions() {
    def_blocks_.resize(f_.regs.size());
    for (u32 b = 0; b < n_; ++b)
      for (Inst& i : f_.blocks[b].insts)
        for_each_def(i, [&](ValueId v) {
          if (def_blocks_[v.v].empty() || def_blocks_[v.v].back() != b) def_blocks_[v.v].push_back(b);
        });
  }

  // Only registers that some block reads before it writes them live at the start of blocks; they get numbers of their
  // own.
  void find_global_registers() {
    global_.assign(f_.regs.size(), ~0u);
    std::vector<u32> written_in(f_.regs.size(), ~0u);
    for (u32 b = 0; b < n_; ++b) {
      auto use = [&](ValueId v) {
        if (written_in[v.v] != b && global_[v.v] == ~0u) global_[v.v] = globals_++;
      };
      for (Inst& i : f_.blocks[b].insts) {
        uses_of(i, use);
        for_each_def(i, [&](ValueId v) { written_in[v.v] = b; });
      }
      if (f_.blocks[b].term.cond.kind == Operand::Kind::Value) use(f_.blocks[b].term.cond.value);
    }
  }
  bool live_in(u32 b, u32 reg) const { return global_[reg] != ~0u && get(live_in_[b], global_[reg]); }

  void compute_liveness() {
    find_global_registers();
    const std::size_t words = (globals_ + 63) / 64;
    std::vector<Bits> gen(n_, Bits(words)), kill(n_, Bits(words));
    live_in_.assign(n_, Bits(words));
    for (u32 b = 0; b < n_; ++b) {
      auto use = [&](ValueId v) {
        const u32 g = global_[v.v];
        if (g != ~0u && !get(kill[b], g)) set(gen[b], g);
      };
      for (Inst& i : f_.blocks[b].insts) {
        uses_of(i, use);
        for_each_def(i, [&](ValueId v) {
          if (global_[v.v] != ~0u) set(kill[b], global_[v.v]);
        });
      }
      if (f_.blocks[b].term.cond.kind == Operand::Kind::Value) use(f_.blocks[b].term.cond.value);
    }
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::size_t k = c_.rpo.size(); k-- > 0;) {
        const u32 b = c_.rpo[k];
        for (std::size_t w = 0; w < words; ++w) {
          u64 out = 0;
          for (u32 s : c_.succs[b]) out |= live_in_[s][w];
          const u64 in = gen[b][w] | (out & ~kill[b][w]);
          if (in != live_in_[b][w]) {
            live_in_[b][w] = in;
            changed = true;
          }
        }
      }
    }
  }

  void compute_frontiers() {
    frontier_.resize(n_);
    for (u32 b = 0; b < n_; ++b) {
      if (c_.preds[b].size() < 2 && b != 0) continue;
      for (u32 p : c_.preds[b])
        for (u32 r = p; r != c_.idom[b] || (b == 0 && r == 0); r = c_.idom[r]) {
          if (std::find(frontier_[r].begin(), frontier_[r].end(), b) == frontier_[r].end()) frontier_[r].push_back(b);
          if (c_.idom[r] == r) break;
        }
    }
  }

  void place_phis() {
    phi_reg_.resize(n_);
    std::vector<u32> mark(n_, ~0u);
    for (u32 r = 0; r < f_.regs.size(); ++r) {
      std::vector<u32> work = def_blocks_[r];
      while (!work.empty()) {
        const u32 b = work.back();
        work.pop_back();
        for (u32 d : frontier_[b]) {
          if (mark[d] == r || !live_in(d, r)) continue;
          mark[d] = r;
          Phi phi;
          phi.in.resize(c_.preds[d].size());
          f_.blocks[d].phis.push_back(std::move(phi));
          phi_reg_[d].push_back(r);
          work.push_back(d);
        }
      }
    }
  }

  ValueId fresh(u32 reg) {
    f_.regs.push_back(f_.regs[reg]);
    f_.origin.push_back(reg);
    if (f_.reg_names.size() > reg) {
      f_.reg_names.resize(f_.regs.size() - 1);
      f_.reg_names.push_back(f_.reg_names[reg]);
    }
    const ValueId v{static_cast<u32>(f_.regs.size() - 1)};
    stacks_[reg].push_back(v);
    trail_.push_back(reg);
    return v;
  }
  // The reaching definition, or none.
  ValueId top(u32 reg) const { return stacks_[reg].empty() ? ValueId{} : stacks_[reg].back(); }
  void rename_use(Operand& o) {
    const ValueId v = top(o.value.v);
    if (v.valid())
      o.value = v;
    else if (o.kind == Operand::Kind::Value) {  // never defined on this path: reads as zero
      const bool negated = o.negated;
      o = Operand{};
      o.kind = Operand::Kind::Imm;
      o.imm = negated ? 1 : 0;
    } else {
      o.value = ValueId{};
    }
  }

  void rename_block(u32 b) {
    Block& block = f_.blocks[b];
    for (std::size_t k = 0; k < block.phis.size(); ++k) block.phis[k].dest = fresh(phi_reg_[b][k]);
    for (Inst& i : block.insts) {
      for_each_use(i, [&](Operand& o) { rename_use(o); });
      if (i.guard.kind == Operand::Kind::Value)
        for_each_def(i, [&](ValueId& v) {
          Operand m;
          if (top(v.v).valid()) {
            m.kind = Operand::Kind::Value;
            m.value = top(v.v);
          }
          i.merge.push_back(m);
        });
      for_each_def(i, [&](ValueId& v) { v = fresh(v.v); });
    }
    if (block.term.cond.kind == Operand::Kind::Value) rename_use(block.term.cond);
    for (u32 s : c_.succs[b]) {
      const std::size_t p =
          static_cast<std::size_t>(std::find(c_.preds[s].begin(), c_.preds[s].end(), b) - c_.preds[s].begin());
      for (std::size_t k = 0; k < f_.blocks[s].phis.size(); ++k) {
        const ValueId v = top(phi_reg_[s][k]);
        if (!v.valid()) continue;
        Operand& in = f_.blocks[s].phis[k].in[p];
        in.kind = Operand::Kind::Value;
        in.value = v;
      }
    }
  }

  void rename_all() {
    std::vector<std::vector<u32>> children(n_);
    for (u32 b : c_.rpo)
      if (c_.idom[b] != b) children[c_.idom[b]].push_back(b);
    struct Frame {
      u32 block;
      std::size_t next, mark;
    };
    std::vector<Frame> stack;
    auto enter = [&](u32 b) {
      stack.push_back({b, 0, trail_.size()});
      rename_block(b);
    };
    enter(0);
    while (!stack.empty()) {
      Frame& top_frame = stack.back();
      if (top_frame.next < children[top_frame.block].size()) {
        enter(children[top_frame.block][top_frame.next++]);
        continue;
      }
      while (trail_.size() > top_frame.mark) {
        stacks_[trail_.back()].pop_back();
        trail_.pop_back();
      }
      stack.pop_back();
    }
  }

  Function& f_;
  const Cfg& c_;
  const u32 n_;
  std::vector<std::vector<u32>> def_blocks_, frontier_, phi_reg_;
  std::vector<Bits> live_in_;
  std::vector<u32> global_;  // by register: its number among those that live across blocks
  u32 globals_ = 0;
  std::vector<std::vector<ValueId>> stacks_;
  std::vector<u32> trail_;
  u32 first_ssa_ = 0;
};

bool is_plain_move(const Inst& i, const Function& f) {
  if (i.form == isa::Form::Unknown || i.guard.kind != Operand::Kind::None || i.ops.size() != 2) return false;
  return i.form == isa::Form::mov && i.ops[0].kind == Operand::Kind::Value && i.ops[1].kind == Operand::Kind::Value &&
         !i.ops[1].negated && f.regs[i.ops[0].value.v] == f.regs[i.ops[1].value.v];
}

}  // namespace

void build_ssa(Function& f, const Cfg& c) {
  for (u32 b = 0; b < f.blocks.size(); ++b) {
    f.blocks[b].preds.clear();
    for (u32 p : c.preds[b]) f.blocks[b].preds.push_back(BlockId{p});
  }
  SsaBuilder(f, c).run();
}

void propagate_copies(Function& f) {
  std::vector<ValueId> same(f.regs.size());
  auto find = [&](ValueId v) {
    while (same[v.v].valid()) v = same[v.v];
    return v;
  };
  for (Block& b : f.blocks)
    for (Inst& i : b.insts)
      if (is_plain_move(i, f)) {
        const ValueId source = find(i.ops[1].value);
        if (source != i.ops[0].value) same[i.ops[0].value.v] = source;
      }
  bool changed = true;
  while (changed) {
    changed = false;
    for (Block& b : f.blocks)
      for (Phi& p : b.phis) {
        if (same[p.dest.v].valid()) continue;
        ValueId only;
        bool one = true;
        for (Operand& o : p.in) {
          if (o.kind == Operand::Kind::None) continue;  // undefined: any value will do
          if (o.kind != Operand::Kind::Value) {
            one = false;
            break;
          }
          const ValueId v = find(o.value);
          if (v == p.dest) continue;
          if (only.valid() && only != v) {
            one = false;
            break;
          }
          only = v;
        }
        // An undefined input is only ignored when the definition dominates; a phi that mixes stays.
        const bool any_none =
            std::any_of(p.in.begin(), p.in.end(), [](const Operand& o) { return o.kind == Operand::Kind::None; });
        if (one && only.valid() && !any_none) {
          same[p.dest.v] = only;
          changed = true;
        }
      }
  }
  auto fix = [&](Operand& o) {
    if (o.value.valid()) o.value = find(o.value);
  };
  for (Block& b : f.blocks) {
    std::erase_if(b.insts, [&](const Inst& i) { return is_plain_move(i, f) && same[i.ops[0].value.v].valid(); });
    std::erase_if(b.phis, [&](const Phi& p) { return same[p.dest.v].valid(); });
    for (Phi& p : b.phis)
      for (Operand& o : p.in) fix(o);
    for (Inst& i : b.insts) for_each_use(i, fix);
    fix(b.term.cond);
  }
}

void remove_dead(Function& f) {
  std::vector<u8> live(f.regs.size(), 0);
  std::vector<ValueId> work;
  auto need = [&](const Operand& o) {
    if (o.value.valid() && !live[o.value.v]) {
      live[o.value.v] = 1;
      work.push_back(o.value);
    }
  };
  struct Def {
    Inst* inst = nullptr;
    Phi* phi = nullptr;
  };
  std::vector<Def> def(f.regs.size());
  auto removable = [](const Inst& i) {
    return i.form != isa::Form::Unknown && i.call.empty() && isa::info(i.form).dests > 0 &&
           (isa::info(i.form).effects & ~(isa::kLoad)) == 0 && !i.has(isa::Tok::volatile_);
  };
  for (Block& b : f.blocks) {
    for (Phi& p : b.phis) def[p.dest.v].phi = &p;
    for (Inst& i : b.insts) {
      for_each_def(i, [&](ValueId v) { def[v.v].inst = &i; });
      if (!removable(i)) for_each_use(i, need);
    }
    need(b.term.cond);
  }
  while (!work.empty()) {
    const Def d = def[work.back().v];
    work.pop_back();
    if (d.inst) for_each_use(*d.inst, need);
    if (d.phi)
      for (Operand& o : d.phi->in) need(o);
  }
  for (Block& b : f.blocks) {
    std::erase_if(b.phis, [&](const Phi& p) { return !live[p.dest.v]; });
    std::erase_if(b.insts, [&](Inst& i) {
      if (!removable(i)) return false;
      bool any = false;
      for_each_def(i, [&](ValueId v) { any = any || live[v.v]; });
      return !any;
    });
  }
}

}  // namespace us::ir
