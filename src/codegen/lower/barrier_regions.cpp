// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/barrier_regions.h"

#include <algorithm>

namespace us::codegen {
namespace {

using ir::Cfg;
using ir::Operand;
using ir::Terminator;

bool same_in_cta(isa::SReg r) {
  using isa::SReg;
  switch (r) {
    case SReg::ntid:
    case SReg::ctaid:
    case SReg::nctaid:
    case SReg::gridid:
    case SReg::current_graph_exec:
    case SReg::clusterid:
    case SReg::nclusterid:
    case SReg::cluster_ctaid:
    case SReg::cluster_nctaid:
    case SReg::cluster_ctarank:
    case SReg::cluster_nctarank:
      return true;
    default:
      return false;
  }
}

bool has_varying_register(const Operand& o) {
  if (o.kind == Operand::Kind::SReg) return !same_in_cta(o.sreg);
  return std::any_of(o.elems.begin(), o.elems.end(), has_varying_register);
}

class Finder {
 public:
  Finder(ir::Function& f, const Cfg& c) : f_(f), c_(c), n_(static_cast<u32>(f.blocks.size())), meets_(c.ipdom) {}

  // A Cfg takes a block that only ends its threads for no way: a loop that nothing else follows seems not to end, and
  // ways in it not to meet.
  void let_loops_end() {
    std::vector<u32> order, number(n_ + 1, Cfg::kNone), near(n_ + 1, Cfg::kNone);
    std::vector<std::pair<u32, std::size_t>> work;
    const auto visit = [&](u32 b) { number[b] = 0, work.emplace_back(b, 0); };
    for (const u32 b : c_.rpo) {
      if (!c_.succs[b].empty() || number[b] != Cfg::kNone) continue;
      for (visit(b); !work.empty();) {
        auto& [at, k] = work.back();
        if (k < c_.preds[at].size()) {
          if (const u32 p = c_.preds[at][k++]; number[p] == Cfg::kNone) visit(p);
          continue;
        }
        order.push_back(at);
        work.pop_back();
      }
    }
    const u32 end = n_, count = static_cast<u32>(order.size());
    for (u32 k = 0; k < count; ++k) number[order[k]] = k;
    number[end] = count, near[end] = end;
    const auto meet = [&](u32 a, u32 b) {
      while (a != b) (number[a] < number[b] ? a : b) = near[number[a] < number[b] ? a : b];
      return a;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (u32 k = count; k-- > 0;) {
        const u32 b = order[k];
        u32 now = c_.succs[b].empty() ? end : Cfg::kNone;
        for (const u32 s : c_.succs[b])
          if (s < n_ && near[s] != Cfg::kNone) now = now == Cfg::kNone ? s : meet(now, s);
        if (now != near[b]) near[b] = now, changed = true;
      }
    }
    for (u32 b = 0; b < n_; ++b)
      if (meets_[b] >= n_ && near[b] != Cfg::kNone) meets_[b] = near[b];
  }

  BarrierRegions run() {
    find_same();
    find_regions();
    find_outcomes();
    r_.known = decided_by_all();
    return std::move(r_);
  }

 private:
  bool ends_region(u32 b) const { return !f_.blocks[b].insts.empty() && may_yield(f_.blocks[b].insts.back()); }
  bool same(const Operand& o) const { return !o.value.valid() || r_.same_in_cta[o.value.v]; }

  // Loads of parameters, and arithmetic on what is the same.
  bool computes_same(ir::Inst& i) const {
    if (i.form == isa::Form::Unknown || !i.call.empty()) return false;
    if (i.form == isa::Form::isspacep || i.has(isa::Tok::local)) return false;  // where local memory lies differs
    const bool parameter = i.form == isa::Form::ld && i.has(isa::Tok::param) && i.guard.kind == Operand::Kind::None;
    if (isa::info(i.form).effects != isa::kPure && !parameter) return false;
    bool all = true;
    for (const Operand& o : i.ops) all = all && !has_varying_register(o);
    ir::for_each_use(i, [&](Operand& o) { all = all && same(o); });
    return all;
  }

  void find_same() {
    r_.same_in_cta.assign(f_.regs.size(), 1);
    std::vector<u8> torn(n_, 0);  // warps may come by different ways, or go round a loop differently often
    for (bool changed = true; changed;) {
      changed = false;
      auto lower = [&](ir::ValueId v) {
        if (r_.same_in_cta[v.v]) r_.same_in_cta[v.v] = 0, changed = true;
      };
      for (u32 b : c_.rpo) {
        for (const ir::Phi& p : f_.blocks[b].phis)
          if (torn[b] || !std::all_of(p.in.begin(), p.in.end(), [&](const Operand& o) { return same(o); }))
            lower(p.dest);
        for (ir::Inst& i : f_.blocks[b].insts)
          if (!computes_same(i)) ir::for_each_def(i, lower);
        if (c_.succs[b].size() > 1 && !same(f_.blocks[b].term.cond)) changed = tear(b, torn) || changed;
      }
    }
  }
  bool tear(u32 branch, std::vector<u8>& torn) {
    bool changed = false;
    std::vector<u8> seen(n_ + 1, 0);
    std::vector<u32> work = c_.succs[branch];
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (b >= n_ || seen[b]) continue;
      seen[b] = 1;
      if (!torn[b]) torn[b] = 1, changed = true;
      if (b == meets_[branch]) continue;
      work.insert(work.end(), c_.succs[b].begin(), c_.succs[b].end());
    }
    return changed;
  }

  std::vector<u32> within_region(u32 first) const {
    std::vector<u32> blocks, work{first};
    std::vector<u8> seen(n_, 0);
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (seen[b]) continue;
      seen[b] = 1;
      blocks.push_back(b);
      if (!ends_region(b)) work.insert(work.end(), c_.succs[b].begin(), c_.succs[b].end());
    }
    return blocks;
  }

  void find_regions() {
    r_.of_barrier.assign(n_, 0);
    r_.all.push_back({c_.rpo[0], {}, 0});
    for (u32 b : c_.rpo)
      if (ends_region(b)) {
        r_.of_barrier[b] = static_cast<u32>(r_.all.size());
        r_.all.push_back({f_.blocks[b].term.targets[0].v, {}, 0});
      }
    r_.written_once.assign(n_, 1);
    for (const ir::Loop& l : c_.loops)
      if (std::any_of(l.blocks.begin(), l.blocks.end(), [&](u32 b) { return ends_region(b); }))
        for (u32 b : l.blocks) r_.written_once[b] = 0;
    for (u32 k = 0; k < r_.all.size(); ++k)
      for (u32 b : within_region(r_.all[k].block)) {
        r_.all[k].size += static_cast<u32>(f_.blocks[b].insts.size());
        if (ends_region(b)) r_.all[r_.of_barrier[b]].from.push_back(k);
        const Terminator& t = f_.blocks[b].term;
        const bool ends = t.kind == Terminator::Kind::Exit || t.kind == Terminator::Kind::Ret;
        if (ends && (r_.ending.empty() || r_.ending.back() != k)) r_.ending.push_back(k);
      }
  }

  // By block: the barriers (1, 2, ...) and the end (0) that can come next. Traps end the launch and do not count.
  void find_outcomes() {
    outcomes_.assign(n_, {});
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t k = c_.rpo.size(); k-- > 0;) {
        const u32 b = c_.rpo[k];
        std::vector<u32> all;
        const Terminator& t = f_.blocks[b].term;
        if (ends_region(b))
          all = {r_.of_barrier[b]};
        else if (t.kind == Terminator::Kind::Exit || t.kind == Terminator::Kind::Ret)
          all = {0};
        else
          for (u32 s : c_.succs[b]) all.insert(all.end(), outcomes_[s].begin(), outcomes_[s].end());
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        if (all != outcomes_[b]) outcomes_[b] = std::move(all), changed = true;
      }
    }
  }

  bool decided_by_all() const {
    if (c_.irreducible) return false;
    for (u32 b : c_.rpo)
      if (!ends_region(b) && outcomes_[b].size() > 1 && c_.succs[b].size() > 1 && !same(f_.blocks[b].term.cond))
        return false;
    return true;
  }

  ir::Function& f_;
  const Cfg& c_;
  u32 n_;
  std::vector<u32> meets_;  // by block: where its ways meet
  BarrierRegions r_;
  std::vector<std::vector<u32>> outcomes_;
};

}  // namespace

BarrierRegions find_barrier_regions(ir::Function& f, const ir::Cfg& c, bool ends) {
  Finder finder(f, c);
  if (ends) finder.let_loops_end();
  return finder.run();
}

}  // namespace us::codegen
