// SPDX-License-Identifier: Apache-2.0
#include "driver/code/all_come.h"

#include <algorithm>

#include "isa/isa.h"

namespace us::driver {
namespace {

constexpr std::size_t kMostBlocks = 1024;
constexpr u32 kNone = ~0u;

using Reached = std::vector<bool>;

// From the block on, not through `without`.
Reached reached(const ir::Function& f, u32 from, u32 without) {
  Reached seen(f.blocks.size());
  std::vector<u32> left;
  const auto come = [&](u32 b) {
    if (b != without && !seen[b]) seen[b] = true, left.push_back(b);
  };
  come(from);
  while (!left.empty()) {
    const u32 b = left.back();
    left.pop_back();
    for (const ir::BlockId t : f.blocks[b].term.targets) come(t.v);
  }
  return seen;
}

bool ends(const ir::Block& b) {
  return b.term.kind == ir::Terminator::Kind::Exit || b.term.kind == ir::Terminator::Kind::Ret;
}

// Threads may end there, too.
bool may_end_within(const ir::Block& b) {
  return std::ranges::any_of(
      b.insts, [](const ir::Inst& i) { return !i.call.empty() || (isa::info(i.form).effects & isa::kControl) != 0; });
}

// `branches`: who decides there where to go on has not ended.
u32 first_effect(const ir::Block& b, bool branches) {
  constexpr u32 kEffects = isa::kStore | isa::kAtomic | isa::kConvergent | isa::kBarrier;
  const auto at = std::ranges::find_if(b.insts, [](const ir::Inst& i) {
    return i.guard.kind == ir::Operand::Kind::None && i.call.empty() && (isa::info(i.form).effects & kEffects) != 0;
  });
  if (at != b.insts.end()) return at->site;
  return branches && b.term.kind == ir::Terminator::Kind::CondBr ? b.term.site : ir::kNoSite;
}

}  // namespace

u32 all_come_to(const ir::Function& f, const ir::Inst& inst) {
  if (!f.entry || std::ranges::any_of(f.blocks, may_end_within)) return ir::kNoSite;
  const auto own = std::ranges::find_if(f.blocks, [&](const ir::Block& b) {
    return !b.insts.empty() && &inst >= b.insts.data() && &inst < b.insts.data() + b.insts.size();
  });
  if (own == f.blocks.end() || f.blocks.size() > kMostBlocks) return ir::kNoSite;
  const u32 here = static_cast<u32>(own - f.blocks.begin());
  const Reached behind = reached(f, here, kNone);
  const Reached past = reached(f, 0, here);  // by a way round it
  const bool barrier = (isa::info(inst.form).effects & isa::kBarrier) != 0;
  const auto leads_here = [&](u32 b) {
    return std::ranges::any_of(f.blocks[b].term.targets, [&](ir::BlockId t) { return t.v == here; });
  };
  bool in_loop = false;
  for (u32 b = 0; b < f.blocks.size(); ++b) in_loop = in_loop || (behind[b] && leads_here(b));
  for (u32 b = 1; b < f.blocks.size(); ++b) {
    if (b == here || !behind[b]) continue;
    // Of the same turn of a loop: who left the loop has executed both. Branches behind a loop may be the compiler's,
    // which has made several of it.
    const bool again = in_loop && reached(f, b, kNone)[here];
    if (!past[b] && again) continue;
    const u32 site = first_effect(f.blocks[b], barrier && (again || !in_loop));
    if (site == ir::kNoSite) continue;
    const Reached around = reached(f, 0, b);
    bool ended = !around[here];
    for (u32 e = 0; e < f.blocks.size(); ++e) ended = ended || (around[e] && ends(f.blocks[e]));
    if (!ended) return site;
  }
  return ir::kNoSite;
}

}  // namespace us::driver
