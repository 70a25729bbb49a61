// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/settled.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include "codegen/builder.h"
#include "codegen/lower/shared_proof.h"
#include "codegen/semantics/made_from.h"
#include "codegen/semantics/memory.h"

namespace us::codegen {

namespace {

using ir::Operand;
using isa::Tok;

constexpr u32 kMemory = isa::kLoad | isa::kStore | isa::kAtomic;

using Access = SharedAccess;
using How = Access::How;

class Finder {
 public:
  Finder(const ir::Module& m, const ir::Function& f, const ir::Cfg& cfg, const CodeFacts& facts,
         const BarrierRegions& r, const std::vector<Reach>& reach)
      : m_(m), f_(f), cfg_(cfg), facts_(facts), r_(r), reach_(reach), made_(m, f), class_(r.all.size()) {}

  std::map<const ir::Inst*, Settled> run() {
    join_regions();
    for (u32 k = 0; k < r_.all.size(); ++k)
      if (!collect(k)) return {};
    if (!hidden_) proof_ = prove_shared(m_, f_, cfg_, facts_, r_, class_, accesses_);
    if (calls_) proof_.closed.clear();
    for (auto& [region, all] : accesses_)
      for (const Access& a : all)
        if (!proved(region, a) && !settled(a, all)) lost_.insert(a.inst);
    for (auto& [region, all] : accesses_)
      for (const Access& a : all)
        if (!lost_.contains(a.inst)) keep(a);
    return std::move(found_);
  }

 private:
  // Regions between which there is a barrier of ours only are one.
  void join_regions() {
    std::iota(class_.begin(), class_.end(), 0u);
    for (u32 b = 0; b < f_.blocks.size(); ++b) {
      if (!ends_region(b) || f_.blocks[b].insts.back().site != ir::kNoSite) continue;
      const u32 next = r_.of_barrier[b];
      for (const u32 from : r_.all[next].from) {
        const u32 old = class_[from], now = class_[next];
        std::ranges::replace(class_, old, now);
      }
    }
  }
  bool ends_region(u32 b) const { return !f_.blocks[b].insts.empty() && may_yield(f_.blocks[b].insts.back()); }

  bool collect(u32 region) {
    std::vector<u32> work{r_.all[region].block};
    std::vector<u8> seen(f_.blocks.size(), 0);
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (seen[b]) continue;
      seen[b] = 1;
      for (const ir::Inst& i : f_.blocks[b].insts)
        if (!note(i, accesses_[class_[region]])) return false;
      if (ends_region(b)) continue;
      for (const ir::BlockId t : f_.blocks[b].term.targets) work.push_back(t.v);
    }
    return true;
  }

  // False: nothing is known of the kernel.
  bool note(const ir::Inst& i, std::vector<Access>& to) {
    if (!i.call.empty()) return calls_ = true;  // of functions that are not the program's
    if (i.form == isa::Form::Unknown) return false;
    const u32 effects = isa::info(i.form).effects;
    if (effects & (isa::kCopy | isa::kClusterBarrier)) return false;
    orders_ = orders_ || (effects & isa::kOrders);
    for (const Tok t : {Tok::acquire, Tok::release, Tok::acq_rel, Tok::sc}) orders_ = orders_ || i.has(t);
    if (!(effects & kMemory)) {  // mbarriers, what else stands at an address, and operands that a descriptor names
      const auto is_address = [](const Operand& o) { return o.kind == Operand::Kind::Address; };
      const bool matrix = std::string_view(isa::info(i.form).id).starts_with("wgmma");
      hidden_ = hidden_ || matrix || std::ranges::any_of(i.ops, is_address);
      return true;
    }
    for (const Tok t : {Tok::global, Tok::local, Tok::param, Tok::param_entry, Tok::param_func, Tok::const_})
      if (i.has(t)) return true;
    const SemFn s = semantics_of(i.form);
    const bool known = s == &sem_ld || s == &sem_st || s == &sem_atom || s == &sem_red;
    if (!known) return false;
    Access a;
    a.inst = &i;
    const bool shared = i.has(Tok::shared) || i.has(Tok::shared_cta);
    if (shared) a.variable = made_.of(i);
    if (a.variable.valid() && !is_ours(m_.symbols[a.variable.v])) a.variable = {};
    a.bytes = isa::bits_of(i.type(i.type_count - 1)) / 8;
    const bool strong = i.has(Tok::volatile_) || i.has(Tok::relaxed) || i.has(Tok::mmio);
    if (s == &sem_ld && !strong) a.how = How::Read;
    if (s == &sem_st && !strong && !i.has(Tok::release)) a.how = How::Write;
    if ((s == &sem_atom || s == &sem_red)) a.how = How::Atomic;
    to.push_back(a);
    return true;
  }
  bool is_ours(const ir::Symbol& s) const {
    return s.kind == ir::Symbol::Kind::Variable && s.space == isa::Space::Shared && !s.unsized && s.size &&
           !s.alias.valid();
  }

  bool settled(const Access& a, const std::vector<Access>& all) const {
    if (!a.variable.valid() || a.how == How::Write || a.how == How::Other || (a.how == How::Atomic && orders_))
      return false;
    return std::ranges::all_of(all, [&](const Access& o) {
      if (a.how == How::Read && o.how == How::Read) return true;
      if (o.variable.valid() && o.variable != a.variable) return true;
      return o.variable.valid() && a.how == o.how && a.bytes == o.bytes;
    });
  }

  bool proved(u32 region, const Access& a) const {
    return a.variable.valid() && proof_.raceless.contains({region, a.variable.v});
  }

  void keep(const Access& a) {
    if (proof_.closed.contains(a.variable.v)) {
      found_[a.inst] = {0, a.variable, true, true};
      return;
    }
    const auto [at, fresh] = numbers_.try_emplace(a.variable.v, static_cast<u32>(numbers_.size() + 1));
    if (at->second > Settled::kMost) return;
    found_[a.inst] = {at->second, a.variable, inside(*a.inst, m_.symbols[a.variable.v])};
  }
  bool inside(const ir::Inst& i, const ir::Symbol& s) const {
    u32 bytes = isa::bits_of(i.type(i.type_count - 1)) / 8;
    if (i.has(Tok::v2)) bytes *= 2;
    if (i.has(Tok::v4)) bytes *= 4;
    if (i.has(Tok::v8)) bytes *= 8;
    for (const Operand& o : i.ops) {
      if (o.kind != Operand::Kind::Address) continue;
      i64 low = o.imm, high = o.imm;
      if (o.value.valid()) {
        if (o.value.v >= reach_.size() || !reach_[o.value.v].symbol.valid()) return false;
        low += reach_[o.value.v].low, high += reach_[o.value.v].high;
      }
      return low >= 0 && high + bytes <= static_cast<i64>(s.size);
    }
    return false;
  }

  const ir::Module& m_;
  const ir::Function& f_;
  const ir::Cfg& cfg_;
  const CodeFacts& facts_;
  const BarrierRegions& r_;
  const std::vector<Reach>& reach_;
  const MadeFrom made_;
  std::vector<u32> class_;  // by region
  std::map<u32, std::vector<Access>> accesses_;
  std::set<const ir::Inst*> lost_;  // in some region
  bool orders_ = false;             // something else than barriers may order threads
  bool calls_ = false;              // functions
  bool hidden_ = false;             // shared memory is touched by others than `accesses_`
  SharedProof proof_;
  std::map<u32, u32> numbers_;
  std::map<const ir::Inst*, Settled> found_;
};

}  // namespace

std::map<const ir::Inst*, Settled> settled_accesses(const ir::Module& m, const ir::Function& f, const ir::Cfg& cfg,
                                                    const CodeFacts& facts, const BarrierRegions& r,
                                                    const std::vector<Reach>& reach) {
  return Finder(m, f, cfg, facts, r, reach).run();
}

}  // namespace us::codegen
