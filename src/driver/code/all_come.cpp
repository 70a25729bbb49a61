// SPDX-License-Identifier: Apache-2.0
#include "driver/code/all_come.h"

#include <algorithm>

#include "driver/code/source_text.h"
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

constexpr u32 kTogether = isa::kConvergent | isa::kBarrier;

bool has(const ir::Inst& i, u32 effects) { return (isa::info(i.form).effects & effects) != 0; }

// Behind instruction `at` of the block threads only end.
bool only_ends(const ir::Function& f, const ir::Block& block, std::size_t at) {
  const ir::Block* b = &block;
  for (std::size_t n = 0; n < f.blocks.size(); ++n, at = 0) {
    if (std::any_of(b->insts.begin() + std::ptrdiff_t(at), b->insts.end(),
                    [](const ir::Inst& i) { return has(i, kTogether); }))
      return false;
    if (ends(*b)) return true;
    if (b->term.targets.size() != 1) return false;
    b = &f.blocks[b->term.targets[0].v];
  }
  return false;
}

bool written_once(const ir::Function& f, ir::ValueId v) {
  u32 times = 0;
  for (const ir::Block& b : f.blocks)
    for (const ir::Inst& i : b.insts) ir::for_each_def(i, [&](ir::ValueId d) { times += d == v; });
  return times == 1;
}

// What the instruction takes is loaded in its block, or made of that and of what is the same on all ways there.
bool made_there(const ir::Function& f, const ir::Block& b, std::size_t at) {
  bool loaded = false;
  std::vector<ir::ValueId> needed;
  const auto need = [&](const ir::Inst& i) {
    ir::for_each_use(i, [&](const ir::Operand& o) { needed.push_back(o.value); });
  };
  need(b.insts[at]);
  while (at-- > 0) {
    bool needs = false;
    ir::for_each_def(b.insts[at], [&](ir::ValueId d) { needs = std::erase(needed, d) != 0 || needs; });
    if (!needs) continue;
    loaded = loaded || (has(b.insts[at], isa::kLoad) && !b.insts[at].has(isa::Tok::param));
    need(b.insts[at]);
  }
  return loaded && std::ranges::all_of(needed, [&](ir::ValueId v) { return written_once(f, v); });
}

// Something that every thread does there, by its own doing. The compiler puts what two ways end with behind where they
// meet: `if (i >= n) { out[i] = 0; return; } ... out[i] = x;` has one store, of the one or of the other. So a store
// behind which threads only end counts where it needs what is loaded there, and nothing in which the ways differ; or
// where the source has no such return.
bool is_common(const ir::Module& m, const ir::Function& f, const ir::Block& b, std::size_t at) {
  const ir::Inst& i = b.insts[at];
  if (i.guard.kind != ir::Operand::Kind::None || !i.call.empty()) return false;
  if (has(i, kTogether)) return true;
  return has(i, isa::kStore | isa::kAtomic) &&
         (!only_ends(f, b, at + 1) || made_there(f, b, at) || !may_return(m, f, i));
}

// `branches`: who decides there where to go on has not ended.
u32 first_effect(const ir::Module& m, const ir::Function& f, const ir::Block& b, bool branches) {
  for (std::size_t at = 0; at < b.insts.size(); ++at)
    if (is_common(m, f, b, at)) return b.insts[at].site;
  return branches && b.term.kind == ir::Terminator::Kind::CondBr ? b.term.site : ir::kNoSite;
}

}  // namespace

u32 all_come_to(const ir::Module& m, const ir::Function& f, const ir::Inst& inst) {
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
    const u32 site = first_effect(m, f, f.blocks[b], barrier && (again || !in_loop));
    if (site == ir::kNoSite) continue;
    const Reached around = reached(f, 0, b);
    bool ended = !around[here];
    for (u32 e = 0; e < f.blocks.size(); ++e) ended = ended || (around[e] && ends(f.blocks[e]));
    if (!ended) return site;
  }
  return ir::kNoSite;
}

}  // namespace us::driver
