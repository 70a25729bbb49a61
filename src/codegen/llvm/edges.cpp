// SPDX-License-Identifier: Apache-2.0
// What happens at the end of a block: phis, pending masks, lanes that end.
#include <algorithm>

#include "codegen/llvm/emitter.h"

namespace us::codegen {

using device::RtFn;
using device::WarpCtx;
using ir::Operand;
using ir::Terminator;

void Emitter::emit_phis(u32 from, u32 to, Value* edge_mask, bool edge_full) {
  const ir::Block& t = f_.blocks[to];
  if (t.phis.empty()) return;
  const std::size_t k =
      static_cast<std::size_t>(std::find(cfg_.preds[to].begin(), cfg_.preds[to].end(), from) - cfg_.preds[to].begin());
  std::vector<std::pair<ir::ValueId, LV>> copies;
  for (const ir::Phi& p : t.phis) {
    const Shape& want = a_.shapes[p.dest.v];
    const Operand& o = p.in[k];
    if (want.constant() || o.kind == Operand::Kind::None) continue;
    LV v;
    if (o.kind == Operand::Kind::Value)
      v = read_value(o.value);
    else {
      v.shape = constant_shape(want.bits, static_cast<u64>(o.imm));
      v.base = const_int(want.bits, static_cast<u64>(o.imm));
    }
    const bool v_dirty = v.shape.nan == Shape::Nan::F32 || v.shape.nan == Shape::Nan::F64;
    const bool to_canon = v_dirty && want.nan != v.shape.nan;
    if (o.kind == Operand::Kind::Value && same_place(p.dest, o.value) && !to_canon) continue;
    if (to_canon) v = canon(v);
    if (want.varying()) {
      Value* x = vec(v);
      v = LV{};
      v.vec = x;
      v.shape = varying_shape(want.bits);
      v.vec_block = b_.GetInsertBlock();
    } else {
      if (v.shape.varying()) {
        std::fprintf(stderr, "understudy: phi shape mismatch at %%%u in %s\n", p.dest.v, f_.name.c_str());
        US_UNREACHABLE();
      }
      Value* base = v.base;
      // A constant vector joins a pattern with other known bits: same offsets, base as computed.
      v = LV{};
      v.base = base;
      v.shape = want;
      v.shape.known = false;
    }
    copies.push_back({p.dest, v});
  }
  Value* blend = nullptr;
  if (!edge_full) blend = b_.CreateBitCast(edge_mask, llvm::FixedVectorType::get(b_.getInt1Ty(), kWarpSize));
  for (auto& [dest, v] : copies)
    store_slot(in_register_slot(dest) ? slot_of(dest) : phi_in_[dest.v], v, v.shape.varying() ? blend : nullptr);
}

void Emitter::emit_edge(u32 from, u32 to, Value* edge_mask, bool edge_full) {
  const bool first = opens(from, to);
  emit_phis(from, to, edge_mask, edge_full || first);
  if (checked_[to] && first)
    b_.CreateStore(edge_mask, pending_[to]);
  else if (checked_[to])
    b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), pending_[to]), edge_mask), pending_[to]);
}

void Emitter::kill_lanes(Value* m) {
  Value* left = b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), live_place()), b_.CreateNot(m));
  b_.CreateStore(left, live_place());
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, live));
  if (f_.entry)
    of_runtime(b_.CreateStore(left, p));
  else
    b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), p), b_.CreateNot(m)), p);
}

// After the edges of a block: go on.
void Emitter::finish_block(u32 b) { b_.CreateBr(sweep_from(position_[b] + 1)); }

Emitter::Parts Emitter::divided(const Terminator& t, V cond) {
  Parts parts;
  Value* m = mask();
  if (t.kind == Terminator::Kind::CondBr) {
    Value* taken = b_.CreateAnd(b_.CreateBitCast(vec(cond), b_.getInt32Ty()), m);
    parts = {{t.targets[0].v, taken}, {t.targets[1].v, b_.CreateAnd(m, b_.CreateNot(taken))}};
  } else {
    std::map<u32, Value*> by_target;
    for (u32 k = 0; k < t.targets.size(); ++k) {
      Value* eq = b_.CreateICmpEQ(vec(cond), llvm::ConstantInt::get(vec_type(32), k));
      if (k + 1 == t.targets.size()) eq = b_.CreateICmpUGE(vec(cond), llvm::ConstantInt::get(vec_type(32), k));
      Value* bits = b_.CreateAnd(b_.CreateBitCast(eq, b_.getInt32Ty()), m);
      Value*& all = by_target[t.targets[k].v];
      all = all ? b_.CreateOr(all, bits) : bits;
    }
    parts.assign(by_target.begin(), by_target.end());
  }
  return parts;
}

void Emitter::emit_terminator(u32 b) {
  flush_stores();
  count(f_.blocks[b].term.site, probe::Counter::Lanes, 1);
  if (a_.its) return emit_its_terminator(b);
  const Terminator& t = f_.blocks[b].term;
  const bool guarded = a_.guarded[b];
  const bool exits = t.kind == Terminator::Kind::Exit || (f_.entry && t.kind == Terminator::Kind::Ret);
  auto exit_edge = [&](u32 to) { return f_.entry && ir::is_exit_block(f_, to); };
  pool_.clear();
  if (t.kind == Terminator::Kind::Trap || t.kind == Terminator::Kind::Unreachable) {
    V none;
    call_rt(RtFn::Trap, {}, {}, &none, false);
    kill_lanes(mask());
    if (guarded)
      finish_block(b);
    else
      b_.CreateBr(end_);
    return;
  }
  if (exits) {
    if (guarded || !f_.entry) {
      kill_lanes(mask());
      if (guarded) return finish_block(b);
    }
    b_.CreateBr(end_);
    return;
  }
  if (t.kind == Terminator::Kind::Ret) {
    if (guarded)
      finish_block(b);
    else
      b_.CreateBr(end_);
    return;
  }
  // One target: plain jump.
  auto go = [&](u32 to, Value* m, bool full) {  // all of m goes to `to`, and nothing else happens in this block
    if (exit_edge(to)) {
      count_lanes(f_.blocks[to].term.site, probe::Counter::Lanes, 1, m);
      if (guarded) {
        kill_lanes(m);
        finish_block(b);
      } else {
        b_.CreateBr(end_);
      }
      return;
    }
    if (guarded) {
      emit_edge(b, to, m, full);
      finish_block(b);
      return;
    }
    emit_phis(b, to, m, true);
    if (a_.guarded[to]) b_.CreateStore(m, pending_[to]);
    branch_to(to);
  };
  if (cta_mode_ && !f_.blocks[b].insts.empty() && may_yield(f_.blocks[b].insts.back()))
    return emit_cta_barrier(t.targets[0].v);
  if (t.targets.size() == 1 || cfg_.succs[b].size() == 1) return go(t.targets[0].v, mask(), mask_full_);

  V cond = read(t.cond, t.kind == Terminator::Kind::CondBr ? isa::Type::pred : isa::Type::u32);
  const bool uniform = at(cond).shape.uniform();
  if (uniform) {
    Value* c = at(cond).base;
    std::map<u32, Block*> edges;
    auto edge = [&](u32 to) {
      Block*& e = edges[to];
      if (!e) e = Block::Create(c_, "edge", out_);
      return e;
    };
    if (t.kind == Terminator::Kind::CondBr) {
      b_.CreateCondBr(c, edge(t.targets[0].v), edge(t.targets[1].v));
    } else {
      auto* sw = b_.CreateSwitch(c, edge(t.targets.back().v), static_cast<unsigned>(t.targets.size()));
      for (u32 k = 0; k < t.targets.size(); ++k) sw->addCase(b_.getInt32(k), edge(t.targets[k].v));
    }
    for (auto& [to, e] : edges) {
      b_.SetInsertPoint(e);
      go(to, mask(), mask_full_);
    }
    return;
  }
  // Divergent: every lane goes its way, then the sweep goes on.
  Parts going;
  for (auto& [to, part] : divided(t, cond)) {
    if (exit_edge(to)) {
      count_lanes(f_.blocks[to].term.site, probe::Counter::Lanes, 1, part);
      kill_lanes(part);
    } else {
      going.push_back({to, part});
    }
  }
  if (!guarded && going.size() == 1) {  // the others have left: no divergence
    const u32 to = going[0].first;
    auto* on = Block::Create(c_, "alive", out_);
    Value* left = b_.CreateLoad(b_.getInt32Ty(), live_place());
    b_.CreateCondBr(b_.CreateICmpNE(left, b_.getInt32(0)), on, end_);
    b_.SetInsertPoint(on);
    emit_phis(b, to, left, true);
    if (a_.guarded[to]) b_.CreateStore(left, pending_[to]);
    branch_to(to);
    return;
  }
  for (auto& [to, part] : going) emit_edge(b, to, part, false);
  finish_block(b);
}

}  // namespace us::codegen
