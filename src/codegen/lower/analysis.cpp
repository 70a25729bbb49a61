// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/analysis.h"

#include <algorithm>

#include "codegen/lower/shape_builder.h"
#include "codegen/lower/waits.h"
#include "isa/operands.h"

namespace us::codegen {
namespace {

using ir::Cfg;
using ir::Operand;
using ir::Terminator;

bool all_conditions(const Operand&) { return true; }

class Analyzer {
 public:
  Analyzer(const ir::Module& m, ir::Function& f, const Cfg& c, const CodeFacts& facts, bool its)
      : m_(m), f_(f), c_(c), facts_(facts), force_its_(its), n_(static_cast<u32>(f.blocks.size())), waits_(f, c) {}

  Analysis run() {
    a_.its = force_its_;
    if (a_.its) a_.its_reason = "forced";
    solve();
    if (!a_.its && needs_its()) {
      a_.its = true;
      solve();
    }
    find_shadows();
    for (ir::Block& b : f_.blocks)
      for (const ir::Inst& i : b.insts) a_.yields = a_.yields || may_yield(i);
    a_.loop_spins.assign(c_.loops.size(), 0);
    a_.spins_around.assign(c_.loops.size(), 0);
    // Lanes that wait at a barrier while others of their warp turn would turn with them, for nothing.
    const bool may_share = facts_.records() && !(a_.its && a_.yields);
    for (u32 l = 0; l < c_.loops.size(); ++l) {
      a_.spins_around[l] = waits_.around_barrier(static_cast<int>(l));
      const bool shares = may_share && waits_.shares(static_cast<int>(l));
      a_.shares = a_.shares || shares;
      a_.loop_spins[l] = shares || a_.spins_around[l] || waits_.exit_waits(static_cast<int>(l), all_conditions);
      a_.yields = a_.yields || a_.loop_spins[l];
    }
    const std::vector<u8> waits_around = a_.spins_around;
    // A loop within one around a barrier shares its budget, and may be the one that always uses it up.
    for (u32 l = 0; l < c_.loops.size(); ++l)
      for (int o = c_.loops[l].parent; o >= 0 && a_.loop_spins[l]; o = c_.loops[static_cast<std::size_t>(o)].parent)
        a_.spins_around[l] |= waits_around[static_cast<std::size_t>(o)];
    for (u32 l = 0; l < c_.loops.size() && facts_.records(); ++l)
      if (a_.loop_spins[l] && (!a_.shares || waits_.only_reads(static_cast<int>(l))))
        for (const ir::Inst* i : waits_.looks(static_cast<int>(l))) a_.looks.insert(i->site);
    return std::move(a_);
  }

 private:
  void solve() {
    a_.shapes.assign(f_.regs.size(), Shape{});
    for (u32 v = 0; v < f_.regs.size(); ++v) {
      a_.shapes[v].kind = Shape::Kind::Top;
      a_.shapes[v].bits = ir::bits_of(f_.regs[v]);
    }
    a_.divergent.assign(n_, 0);
    a_.guarded.assign(n_, a_.its ? 1 : 0);
    a_.join.assign(n_, a_.its ? 1 : 0);
    a_.loop_diverges.assign(c_.loops.size(), a_.its ? 1 : 0);
    do {
      propagate_shapes();
    } while (mark_divergent_branches());
  }

  Shape phi_input(const Operand& o, u32 bits) const {
    if (o.kind == Operand::Kind::Value) {
      const Shape& s = a_.shapes[o.value.v];
      return s;
    }
    if (o.kind == Operand::Kind::Imm) return constant_shape(bits, static_cast<u64>(o.imm));
    Shape top;
    top.kind = Shape::Kind::Top;
    top.bits = bits;
    return top;
  }

  void propagate_shapes() {
    ShapeBuilder sb(m_, facts_, a_.shapes, f_, a_.its);
    u32 block = 0;
    sb.through_shadow = [&](ir::ValueId v) { return outlives_loop(v, block); };
    do {
      sb.changed = false;
      for (u32 b : c_.rpo) {
        block = b;
        for (ir::Phi& p : f_.blocks[b].phis) {
          const u32 bits = ir::bits_of(f_.regs[p.dest.v]);
          Shape s;
          s.kind = Shape::Kind::Top;
          s.bits = bits;
          for (std::size_t k = 0; k < p.in.size(); ++k) {
            const Operand& in = p.in[k];
            if (in.value.valid() && outlives_loop(in.value, f_.blocks[b].preds[k].v))
              s = meet(s, demote(phi_input(in, bits)));
            else
              s = meet(s, phi_input(in, bits));
          }
          s.bits = bits;
          if (s.kind == Shape::Kind::Top) {
            if (std::all_of(p.in.begin(), p.in.end(), [](const Operand& in) { return in.kind == Operand::Kind::None; }))
              s = unknown(bits);
            else
              continue;
          }
          if (a_.join[b] || facts_.force_varying) s = demote(s);
          sb.define(p.dest, s);
        }
        for (ir::Inst& i : f_.blocks[b].insts) {
          if (i.form == isa::Form::Unknown || !i.call.empty() || !semantics_of(i.form) || facts_.force_varying) {
            ir::for_each_def(i, [&](ir::ValueId v) { sb.define(v, unknown(ir::bits_of(f_.regs[v.v]))); });
            continue;
          }
          sb.begin(i);
          semantics_of(i.form)(Sem{sb, i});
        }
      }
    } while (sb.changed);
    // Values only defined from themselves: unreachable in practice.
    for (Shape& s : a_.shapes)
      if (s.kind == Shape::Kind::Top) s = unknown(s.bits);
  }

  Shape unknown(u32 bits) const { return facts_.one_thread ? uniform_shape(bits) : varying_shape(bits); }
  Shape demote(const Shape& s) const {
    Shape r = unknown(s.bits);
    r.nan = s.nan;
    return r;
  }

  bool outlives_loop(ir::ValueId v, u32 use_block) const {
    return !a_.its && def_block_[v.v] != Cfg::kNone && leaves_divergent_loop(def_block_[v.v], use_block);
  }

  bool uniform_condition(const Operand& o) const {
    return o.kind != Operand::Kind::Value || a_.shapes[o.value.v].uniform();
  }

  // Returns true if something new was found (shapes must be computed again).
  bool mark_divergent_branches() {
    bool changed = false;
    for (u32 b : c_.rpo) {
      const Terminator& t = f_.blocks[b].term;
      if (a_.divergent[b] || t.targets.size() < 2 ||
          (uniform_condition(t.cond) && !a_.its && !(t.cond.value.valid() && outlives_loop(t.cond.value, b))))
        continue;
      a_.divergent[b] = 1;
      if (!a_.its) changed = mark_region(b) || changed;
    }
    if (changed)  // phis of new joins lose their shapes; everything that depends on them is recomputed downwards
      for (u32 b = 0; b < n_; ++b)
        if (a_.join[b])
          for (ir::Phi& p : f_.blocks[b].phis) a_.shapes[p.dest.v] = demote(a_.shapes[p.dest.v]);
    return changed;
  }

  std::vector<u32> live_successors(u32 b) const {
    std::vector<u32> out;
    for (u32 s : c_.succs[b])
      if (!(f_.entry && ir::is_exit_block(f_, s))) out.push_back(s);
    return out;
  }

  // Blocks reachable from these without passing `stop`.
  std::vector<u32> region_of(std::vector<u32> work, u32 stop) {
    std::vector<u32> region;
    in_region_.resize(n_ + 1, 0);
    while (!work.empty()) {
      const u32 x = work.back();
      work.pop_back();
      if (in_region_[x] || x == stop) continue;
      in_region_[x] = 1;
      region.push_back(x);
      for (u32 y : live_successors(x)) work.push_back(y);
    }
    for (u32 x : region) in_region_[x] = 0;
    return region;
  }

  // The outermost loop around branch and stop that some lanes go round before they come to the stop: there is no place
  // in the loop where the lanes meet.
  int wraps_around(u32 branch, u32 stop, const std::vector<u32>& region) const {
    int found = -1;
    if (stop >= n_) return found;
    for (int l = c_.loop_of[branch]; l >= 0; l = c_.loops[static_cast<std::size_t>(l)].parent)
      if (c_.in_loop(stop, l) &&
          std::find(region.begin(), region.end(), c_.loops[static_cast<std::size_t>(l)].header) != region.end())
        found = l;
    return found;
  }

  bool mark_region(u32 branch) {
    const auto succs = live_successors(branch);
    if (succs.size() < 2) return false;  // the other side only ends its lanes
    u32 stop = c_.ipdom[branch];
    std::vector<u32> region = region_of(succs, stop);
    if (const int around = wraps_around(branch, stop, region); around >= 0) {
      while (stop < n_ && c_.in_loop(stop, around)) stop = c_.ipdom[stop];
      region = region_of(succs, stop);
    }
    // Two different labels meeting at a block: paths from both sides join there.
    bool again = true;
    auto& [label, joined, seed] = marks_;
    label.resize(n_ + 1, Cfg::kNone), joined.resize(n_ + 1, 0), seed.resize(n_ + 1, 0);
    std::vector<u32> touched = succs;
    for (u32 s : succs) label[s] = s, seed[s] = 1;
    auto arrive = [&](u32 block, u32 l) {
      if (l == Cfg::kNone || joined[block]) return;
      if (label[block] == Cfg::kNone) {
        label[block] = l;
        touched.push_back(block);
        again = true;
      } else if (label[block] != l) {
        joined[block] = 1;
        label[block] = block;
        again = true;
      }
    };
    std::sort(region.begin(), region.end(), [&](u32 x, u32 y) { return c_.rpo_index[x] < c_.rpo_index[y]; });
    while (again) {
      again = false;
      for (u32 x : region)
        for (u32 y : live_successors(x)) {
          if (x == branch && seed[y]) continue;
          // A loop header re-entered from inside keeps the label it was entered with unless paths differ.
          arrive(y, label[x]);
        }
    }
    // A branch target that is the post-dominator itself meets the other side there.
    for (u32 s : succs)
      if (s == stop && stop < n_) joined[s] = 1;

    bool changed = false;
    auto raise = [&](u8& flag) {
      if (!flag) {
        flag = 1;
        changed = true;
      }
    };
    for (u32 x : region) raise(a_.guarded[x]);
    for (u32 x : touched) {
      if (joined[x] && x < n_) raise(a_.join[x]);
      label[x] = Cfg::kNone, joined[x] = seed[x] = 0;
    }
    for (int id = c_.loop_of[branch]; id >= 0; id = c_.loops[static_cast<std::size_t>(id)].parent) {
      if (stop < n_ && c_.in_loop(stop, id)) continue;
      const auto l = static_cast<std::size_t>(id);
      if (!a_.loop_diverges[l]) {
        a_.loop_diverges[l] = 1;
        changed = true;
      }
      for (u32 x : c_.loops[l].blocks)
        for (u32 y : live_successors(x))
          if (!c_.in_loop(y, id)) raise(a_.join[y]);
    }
    return changed;
  }

  // --- independent thread scheduling ---

  bool needs_its() {
    bool any_divergent = false;
    for (u32 b = 0; b < n_; ++b) any_divergent = any_divergent || (a_.divergent[b] && live_successors(b).size() > 1);
    if (!any_divergent) return false;
    if (c_.irreducible) return because("irreducible control flow");
    for (u32 b = 0; b < n_; ++b) {
      if (!a_.guarded[b]) continue;
      for (const ir::Inst& i : f_.blocks[b].insts) {
        if (i.form == isa::Form::Unknown) continue;
        const auto& info = isa::info(i.form);
        if ((info.effects & isa::kYield) && (info.effects & isa::kConvergent))
          return because("a barrier under divergence");
        if ((info.effects & isa::kConvergent) && !mask_is_local(i))
          return because("a warp-synchronous operation under divergence");
      }
    }
    const auto varying = [&](const Operand& o) { return !uniform_condition(o); };
    for (u32 l = 0; l < c_.loops.size(); ++l)
      if (a_.loop_diverges[l] && waits_.exit_waits(static_cast<int>(l), varying))
        return because("a divergent loop that waits for other threads");
    for (u32 l = 0; l < c_.loops.size(); ++l)
      if (a_.guarded[c_.loops[l].header] && waits_.exit_waits(static_cast<int>(l), all_conditions) && acts_beside(l))
        return because("some lanes wait in a loop while others have stores to make");
    return false;
  }
  // Are there effects under divergence that lanes outside this loop may still have before them while it runs?
  bool acts_beside(u32 loop) {
    std::vector<u8> later(n_, 0);
    std::vector<u32> work{c_.loops[loop].header};
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (later[b]) continue;
      later[b] = 1;
      for (u32 s : c_.succs[b]) work.push_back(s);
    }
    for (u32 b = 0; b < n_; ++b) {
      if (later[b] || !a_.guarded[b] || c_.rpo_index[b] < c_.rpo_index[c_.loops[loop].header]) continue;
      for (const ir::Inst& i : f_.blocks[b].insts)
        if (i.form != isa::Form::Unknown && (isa::info(i.form).effects & (isa::kStore | isa::kAtomic | isa::kYield)))
          return true;
    }
    return false;
  }
  bool because(const char* why) {
    a_.its_reason = why;
    return true;
  }

  // The membermask comes from activemask, ballot or match: only lanes that are here can be named.
  bool mask_is_local(const ir::Inst& i) {
    const int mask = isa::operands_of(i.form).membermask;
    if (mask < 0) return i.ops.empty() || !i.has(isa::Tok::sync);
    const Operand& o = i.ops[static_cast<u32>(mask)];
    if (o.kind != Operand::Kind::Value) return false;
    std::vector<u8> seen(f_.regs.size(), 0);
    return derives_from_active(o.value, seen, 0);
  }
  bool derives_from_active(ir::ValueId v, std::vector<u8>& seen, int depth) {
    if (seen[v.v] || depth > 16) return true;
    seen[v.v] = 1;
    const ir::Inst* d = def_inst_[v.v];
    if (!d || d->form == isa::Form::Unknown) return false;
    using isa::Form;
    if (d->form == Form::activemask || d->form == Form::match_any || d->form == Form::match_all ||
        d->form == Form::vote_ballot || d->form == Form::vote_sync_ballot)
      return true;
    if (d->form != Form::mov && d->form != Form::and_) return false;
    bool any = false;
    ir::for_each_use(const_cast<ir::Inst&>(*d),
                     [&](Operand& o) { any = any || derives_from_active(o.value, seen, depth + 1); });
    return any;
  }

  void find_shadows() {
    a_.shadow.assign(f_.regs.size(), 0);
    if (a_.its) return;
    auto visit = [&](const Operand& o, u32 use_block) {
      if (!o.value.valid()) return;
      const u32 d = def_block_[o.value.v];
      if (d != Cfg::kNone && leaves_divergent_loop(d, use_block)) a_.shadow[o.value.v] = 1;
    };
    for (u32 b = 0; b < n_; ++b) {
      for (ir::Phi& p : f_.blocks[b].phis)
        for (std::size_t k = 0; k < p.in.size(); ++k) visit(p.in[k], f_.blocks[b].preds[k].v);
      for (ir::Inst& i : f_.blocks[b].insts) ir::for_each_use(i, [&](Operand& o) { visit(o, b); });
      visit(f_.blocks[b].term.cond, b);
    }
  }
  bool leaves_divergent_loop(u32 def_block, u32 use_block) const {
    for (int l = c_.loop_of[def_block]; l >= 0; l = c_.loops[static_cast<std::size_t>(l)].parent)
      if (a_.loop_diverges[static_cast<std::size_t>(l)] && !c_.in_loop(use_block, l)) return true;
    return false;
  }

  const ir::Module& m_;
  ir::Function& f_;
  const Cfg& c_;
  const CodeFacts& facts_;
  const bool force_its_;
  const u32 n_;
  Analysis a_;
  Waits waits_;
  const std::vector<u32>& def_block_ = waits_.def_block;
  const std::vector<ir::Inst*>& def_inst_ = waits_.def_inst;
  // Kept from question to question: clearing them for each would take the square of the number of branches.
  std::vector<u8> in_region_;
  struct {
    std::vector<u32> label;
    std::vector<u8> joined, seed;
  } marks_;
};

}  // namespace

bool may_yield(const ir::Inst& i) {
  switch (i.form) {
    case isa::Form::Unknown:
      return false;
    case isa::Form::griddepcontrol:
      return i.has(isa::Tok::wait);
    case isa::Form::wgmma_mma_async:  // waits for the other warps of its warpgroup; never under divergence
    case isa::Form::wgmma_mma_async_popc:
    case isa::Form::wgmma_mma_async_sp:
      return true;
    default:
      return isa::info(i.form).effects & isa::kYield;
  }
}

bool reads_shadow(const Analysis& a, const ir::Cfg& c, ir::ValueId value, u32 def_block, u32 use_block) {
  if (!a.shadow[value.v] || def_block == ir::Cfg::kNone) return false;
  for (int l = c.loop_of[def_block]; l >= 0; l = c.loops[static_cast<std::size_t>(l)].parent)
    if (a.loop_diverges[static_cast<std::size_t>(l)] && !c.in_loop(use_block, l)) return true;
  return false;
}

Analysis analyze(const ir::Module& m, ir::Function& f, const ir::Cfg& c, const CodeFacts& facts, bool its) {
  return Analyzer(m, f, c, facts, its).run();
}

}  // namespace us::codegen
