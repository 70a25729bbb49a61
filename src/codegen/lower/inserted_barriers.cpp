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

class Placer {
 public:
  Placer(ir::Function& f, const BarrierRegions& r) : f_(f), r_(r) {}

  // Behind the last load that all threads make of one address, in the straight line behind a barrier.
  std::optional<Place> find(u32 block) const {
    std::optional<Place> place;
    for (u32 steps = 0; steps < f_.blocks.size(); ++steps) {
      const ir::Block& b = f_.blocks[block];
      for (std::size_t k = 0; k < b.insts.size(); ++k) {
        const ir::Inst& i = b.insts[k];
        if (may_yield(i) || may_store_to_shared(i)) return place;
        if (reads_one_word(i)) place = Place{block, k + 1};
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
  bool reads_one_word(const ir::Inst& i) const {
    if (!(effects(i) & isa::kLoad) || (effects(i) & kMemory) != isa::kLoad || !is_shared(i)) return false;
    if (i.guard.kind != Kind::None) return false;
    const auto at = std::find_if(i.ops.begin(), i.ops.end(), [](const Operand& o) { return o.kind == Kind::Address; });
    return at != i.ops.end() && (!at->value.valid() || r_.same_in_cta[at->value.v]);
  }

  ir::Function& f_;
  const BarrierRegions& r_;
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
