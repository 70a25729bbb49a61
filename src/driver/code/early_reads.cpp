// SPDX-License-Identifier: Apache-2.0
#include "driver/code/early_reads.h"

#include <algorithm>
#include <unordered_set>

#include "isa/isa.h"

namespace us::driver {
namespace {

using ir::Inst, ir::Operand, isa::Form;

constexpr u32 kMostBlocks = 32;

bool is_wgmma(const Inst& i) {
  return i.form == Form::wgmma_mma_async || i.form == Form::wgmma_mma_async_sp || i.form == Form::wgmma_mma_async_popc;
}

// From the wgmma on, along the only way that all go.
class Flight {
 public:
  Flight(const ir::Function& f, const Inst& from) : f_(f) {
    for (const ir::Block& b : f.blocks) {
      if (b.insts.empty() || &from < b.insts.data() || &from >= b.insts.data() + b.insts.size()) continue;
      home_ = block_ = &b, next_ = static_cast<std::size_t>(&from - b.insts.data()) + 1;
    }
    ir::for_each_def(from, [&](ir::ValueId v) { sums_.insert(v.v); });
  }
  u32 read() {
    for (u32 n = 0; block_ && n < kMostBlocks; ++n) {
      for (; next_ < block_->insts.size(); ++next_) {
        const Inst& i = block_->insts[next_];
        if (!i.call.empty() || i.form == Form::Unknown) return ir::kNoSite;
        if (i.form == Form::wgmma_wait_group && landed(static_cast<u64>(i.ops[0].imm))) return ir::kNoSite;
        if (const u32 site = look(i); site != ir::kNoSite) return site;
        if (sums_.empty()) return ir::kNoSite;
      }
      if (!go_on(block_->term)) return ir::kNoSite;
    }
    return ir::kNoSite;
  }

 private:
  bool landed(u64 left) const { return committed_ && groups_ >= left; }
  bool holds(ir::ValueId v) const { return sums_.contains(v.v); }
  u32 look(const Inst& i) {
    if (i.form == Form::wgmma_commit_group) committed_ ? void(++groups_) : void(committed_ = true);
    if (is_wgmma(i)) return ir::kNoSite;  // adds to them in its turn
    bool reads = false;
    ir::for_each_use(i, [&](const Operand& o) { reads |= holds(o.value); });
    const bool always = i.guard.kind == Operand::Kind::None;
    if (reads && i.form != Form::mov) return always ? i.site : ir::kNoSite;
    const bool copies = reads && i.ops[0].kind == Operand::Kind::Value && always;
    if (always) ir::for_each_def(i, [&](ir::ValueId v) { sums_.erase(v.v); });
    if (copies) sums_.insert(i.ops[0].value.v);
    return ir::kNoSite;
  }
  // Of a loop around the wgmma, the way out: it comes behind the last turn.
  bool go_on(const ir::Terminator& t) {
    const ir::Block* to = nullptr;
    if (t.kind == ir::Terminator::Kind::Br) to = &f_.blocks[t.targets[0].v];
    if (t.kind == ir::Terminator::Kind::CondBr && t.targets.size() == 2) {
      const ir::Block *one = &f_.blocks[t.targets[0].v], *other = &f_.blocks[t.targets[1].v];
      if (one != other && (one == home_ || other == home_)) to = one == home_ ? other : one;
    }
    if (!to || to == home_) return false;
    block_ = to, next_ = 0;
    for (const ir::Phi& p : to->phis) sums_.erase(p.dest.v);
    return true;
  }

  const ir::Function& f_;
  const ir::Block *home_ = nullptr, *block_ = nullptr;
  std::size_t next_ = 0;
  std::unordered_set<u32> sums_;
  bool committed_ = false;
  u64 groups_ = 0;  // committed behind its own
};

}  // namespace

u32 read_too_early(const ir::Function& f, const Inst& wgmma) {
  return is_wgmma(wgmma) && wgmma.guard.kind == Operand::Kind::None ? Flight(f, wgmma).read() : ir::kNoSite;
}

}  // namespace us::driver
