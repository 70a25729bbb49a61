// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/inserted_barriers.h"

#include <algorithm>
#include <compare>
#include <optional>

namespace us::codegen {
namespace {

using ir::Operand;
using ir::Terminator;
using Kind = Operand::Kind;

constexpr u32 kMemory = isa::kLoad | isa::kStore | isa::kAtomic;

struct Place {
  u32 block;
  std::size_t before;  // this instruction
  auto operator<=>(const Place&) const = default;
};

u32 effects(const ir::Inst& i) { return i.form == isa::Form::Unknown ? ~0u : isa::info(i.form).effects; }
bool is_shared(const ir::Inst& i) { return i.has(isa::Tok::shared) || i.has(isa::Tok::shared_cta); }
bool may_store_to_shared(const ir::Inst& i) {
  if (i.has(isa::Tok::global) || i.has(isa::Tok::local) || i.has(isa::Tok::param)) return false;
  return effects(i) & (isa::kStore | isa::kAtomic);
}

// Values that every warp has alike, lane by lane: made of what is the same in the whole CTA and of a thread's number
// modulo 32. Only a guess where warps are not rows of threads along x.
class SameInWarps {
 public:
  SameInWarps(ir::Function& f, const BarrierRegions& r) : r_(r), def_(f.regs.size(), nullptr) {
    for (ir::Block& b : f.blocks)
      for (ir::Inst& i : b.insts) ir::for_each_def(i, [&](ir::ValueId v) { def_[v.v] = &i; });
  }
  bool operator()(ir::ValueId v) const { return alike(v, kDepth); }

 private:
  static constexpr int kDepth = 12;
  static constexpr u64 kNone = ~u64{0};

  bool alike(ir::ValueId v, int depth) const {
    if (r_.same_in_cta[v.v]) return true;
    ir::Inst* const i = def_[v.v];
    if (!i || !depth || i->guard.kind != Kind::None || effects(*i) != isa::kPure || !i->call.empty()) return false;
    if (i->form == isa::Form::and_ && i->ops.size() == 3)
      for (const u32 k : {1u, 2u})
        if (const Operand& mask = i->ops[k]; mask.kind == Kind::Imm) {
          const u64 step = steps(i->ops[3 - k], depth);
          if (step != kNone && static_cast<u64>(mask.imm) < step * kWarpSize) return true;
        }
    bool all = true;
    for (const Operand& o : i->ops)
      all = all && o.elems.empty() && (o.kind != Kind::SReg || o.sreg == isa::SReg::laneid);
    ir::for_each_use(*i, [&](Operand& o) { all = all && (!o.value.valid() || alike(o.value, depth - 1)); });
    return all;
  }

  // By how much a number grows from thread to thread along x; kNone: not known.
  u64 steps(const Operand& o, int depth) const {
    if (o.kind == Kind::SReg) {
      if (o.sreg == isa::SReg::laneid) return 1;
      return o.sreg == isa::SReg::tid ? o.comp == 0 : o.sreg == isa::SReg::ntid ? 0 : kNone;
    }
    if (!o.value.valid() || r_.same_in_cta[o.value.v]) return 0;
    ir::Inst* const i = def_[o.value.v];
    if (!i || !depth || i->guard.kind != Kind::None || effects(*i) != isa::kPure) return kNone;
    const auto of = [&](std::size_t k) { return k < i->ops.size() ? steps(i->ops[k], depth - 1) : kNone; };
    const u64 a = of(1), b = i->ops.size() > 2 ? of(2) : 0;
    if (a == kNone || b == kNone) return kNone;
    if (i->form == isa::Form::mov) return a;
    if (i->form == isa::Form::add_int) return a + b;
    if (i->form == isa::Form::shl && i->ops[2].kind == Kind::Imm && i->ops[2].imm < 32) return a << i->ops[2].imm;
    const u64 c = i->ops.size() > 3 ? of(3) : 0;
    if (i->form == isa::Form::mad_lo && !a && !b) return c;
    return a || b || c ? kNone : 0;
  }

  const BarrierRegions& r_;
  std::vector<ir::Inst*> def_;
};

class Placer {
 public:
  Placer(ir::Function& f, const BarrierRegions& r) : f_(f), alike_(f, r) {}

  // Behind the last load that all threads, or all warps, make of the same addresses, in the straight line behind a
  // barrier.
  std::optional<Place> find(u32 block) const {
    std::optional<Place> place;
    for (u32 steps = 0; steps < f_.blocks.size(); ++steps) {
      const ir::Block& b = f_.blocks[block];
      for (std::size_t k = 0; k < b.insts.size(); ++k) {
        const ir::Inst& i = b.insts[k];
        if (may_yield(i) || may_store_to_shared(i)) return place;
        if (reads_the_same(i)) place = Place{block, k + 1};
      }
      if (b.term.kind != Terminator::Kind::Br || f_.blocks[b.term.targets[0].v].preds.size() != 1) break;
      block = b.term.targets[0].v;
    }
    return place;
  }

  bool store_follows(const Place& from) const {
    std::vector<u8> seen(f_.blocks.size(), 0);
    std::vector<u32> work;
    auto walk = [&](u32 b, std::size_t k) {  // true: a store
      for (; k < f_.blocks[b].insts.size(); ++k) {
        if (may_yield(f_.blocks[b].insts[k])) return false;
        if (may_store_to_shared(f_.blocks[b].insts[k])) return true;
      }
      for (ir::BlockId t : f_.blocks[b].term.targets) work.push_back(t.v);
      return false;
    };
    if (walk(from.block, from.before)) return true;
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (seen[b]) continue;
      seen[b] = 1;
      if (walk(b, 0)) return true;
    }
    return false;
  }

 private:
  bool reads_the_same(const ir::Inst& i) const {
    if (!(effects(i) & isa::kLoad) || (effects(i) & kMemory) != isa::kLoad || !is_shared(i)) return false;
    if (i.guard.kind != Kind::None) return false;
    const auto at = std::find_if(i.ops.begin(), i.ops.end(), [](const Operand& o) { return o.kind == Kind::Address; });
    return at != i.ops.end() && (!at->value.valid() || alike_(at->value));
  }

  ir::Function& f_;
  const SameInWarps alike_;
};

}  // namespace

bool insert_barriers(ir::Function& f, const BarrierRegions& regions) {
  const Placer placer(f, regions);
  std::vector<Place> places;
  std::vector<u32> without;  // blocks behind barriers
  const ir::Inst* barrier = nullptr;
  for (u32 b = 0; b < f.blocks.size(); ++b) {
    if (f.blocks[b].insts.empty() || !may_yield(f.blocks[b].insts.back())) continue;
    barrier = &f.blocks[b].insts.back();
    const u32 behind = f.blocks[b].term.targets[0].v;
    const std::optional<Place> place = placer.find(behind);
    if (place && placer.store_follows(*place))
      places.push_back(*place);
    else
      without.push_back(behind);
  }
  if (places.empty()) return false;
  // Warps may be at different barriers at a time: then each needs a second one.
  if (!regions.known)
    for (u32 b : without) places.push_back({b, 0});
  std::sort(places.begin(), places.end());  // several barriers may lead to one place
  places.erase(std::unique(places.begin(), places.end()), places.end());
  ir::Inst inserted = *barrier;
  inserted.site = ir::kNoSite;  // it is ours
  for (const Place& p : places)
    f.blocks[p.block].insts.insert(f.blocks[p.block].insts.begin() + static_cast<std::ptrdiff_t>(p.before), inserted);
  return true;
}

}  // namespace us::codegen
