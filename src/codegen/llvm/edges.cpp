// SPDX-License-Identifier: Apache-2.0
// What happens at the end of a block: phis, pending masks, lanes that end.
#include <algorithm>

#include "codegen/llvm/warp_control.h"

namespace us::codegen {

using device::RtFn;
using device::WarpCtx;
using ir::Operand;
using ir::Terminator;

void WarpControl::add_edge(u32 from, u32 to, Value* edge_mask, bool edge_full) {
  const bool first = forgetting_.opens(from, to);
  slots_.store_phis(from, to, edge_mask, edge_full || first);
  if (checked_[to] && first)
    b_.CreateStore(edge_mask, pending_[to]);
  else if (checked_[to])
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), pending_[to]), edge_mask), pending_[to]);
}

// After the edges of a block: go on.
void WarpControl::finish_block(u32 b) { b_.CreateBr(sweep_from(position_[b] + 1)); }

// All of m goes from `b` to `to`, and nothing else happens in this block.
void WarpControl::go_on(u32 b, u32 to, Value* m, bool full) {
  const bool guarded = a_.guarded[b];
  if (f_.entry && ir::is_exit_block(f_, to)) {
    count_end(s_, f_.blocks[to].term.site, m);
    tell_exit(b, to, m, !guarded);
    if (!guarded) {
      b_.CreateBr(s_.end);
      return;
    }
    kill_lanes(m);
    return finish_block(b);
  }
  if (guarded) {
    add_edge(b, to, m, full);
    return finish_block(b);
  }
  slots_.store_phis(b, to, m, true);
  if (a_.guarded[to]) b_.CreateStore(m, pending_[to]);
  branch_to(to);
}

void WarpControl::terminate(u32 b) {
  builder_.parts().stores.flush();
  const Terminator& t = f_.blocks[b].term;
  const bool guarded = a_.guarded[b];
  const bool exits = t.kind == Terminator::Kind::Exit || (f_.entry && t.kind == Terminator::Kind::Ret);
  auto exit_edge = [&](u32 to) { return f_.entry && ir::is_exit_block(f_, to); };
  v_.forget();
  if (t.kind == Terminator::Kind::Trap || t.kind == Terminator::Kind::Unreachable) {
    V none;
    if (m_.facts.events()) builder_.note_site(t.site);
    builder_.call_rt(RtFn::Trap, {}, {}, &none, false);
    kill_lanes(s_.mask());
    if (guarded)
      finish_block(b);
    else
      b_.CreateBr(s_.end);
    return;
  }
  if (exits) {
    tell_exit(b, b, s_.mask(), !guarded && f_.entry);
    if (guarded || !f_.entry) {
      kill_lanes(s_.mask());
      if (guarded) return finish_block(b);
    }
    b_.CreateBr(s_.end);
    return;
  }
  if (t.kind == Terminator::Kind::Ret) {
    if (guarded)
      finish_block(b);
    else
      b_.CreateBr(s_.end);
    return;
  }
  if (ends_at_barrier(b)) return barrier(t.targets[0].v);
  if (t.targets.size() == 1 || cfg_.succs[b].size() == 1) return go_on(b, t.targets[0].v, s_.mask(), s_.mask_full());

  V cond = builder_.read(t.cond, t.kind == Terminator::Kind::CondBr ? isa::Type::pred : isa::Type::u32);
  if (v_.at(cond).shape.uniform())
    return branch_uniformly(t, v_.at(cond).base, [&](u32 to) { go_on(b, to, s_.mask(), s_.mask_full()); });
  // Divergent: every lane goes its way, then the sweep goes on.
  Division going;
  for (auto& [to, part] : divided(t, cond)) {
    if (exit_edge(to)) {
      count_end(s_, f_.blocks[to].term.site, part);
      tell_exit(b, to, part);
      kill_lanes(part);
    } else {
      going.push_back({to, part});
    }
  }
  if (!guarded && going.size() == 1) {  // the others have left: no divergence
    const u32 to = going[0].first;
    auto* on = Block::Create(c_, "alive", s_.out);
    Value* left = b_.CreateLoad(b_.getInt32Ty(), live_place());
    b_.CreateCondBr(b_.CreateICmpNE(left, b_.getInt32(0)), on, s_.end);
    b_.SetInsertPoint(on);
    slots_.store_phis(b, to, left, true);
    if (a_.guarded[to]) b_.CreateStore(left, pending_[to]);
    branch_to(to);
    return;
  }
  for (auto& [to, part] : going) add_edge(b, to, part, false);
  finish_block(b);
}

}  // namespace us::codegen
