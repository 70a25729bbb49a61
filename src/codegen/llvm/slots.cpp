// SPDX-License-Identifier: Apache-2.0
// Values that outlive their block: stack slots, blended under the mask where lanes come separately.
#include "codegen/llvm/slots.h"

#include <algorithm>

#include "codegen/lower/shape_builder.h"

namespace us::codegen {

using ir::Operand;

void Slots::prepare() {
  const std::size_t n = f_.regs.size();
  values_.resize(n);
  value_block_.assign(n, nullptr);
  slots_.resize(n);
  phi_in_.resize(n);
  shadows_.assign(n, nullptr);
  crosses_.assign(n, 0);
  def_block_.assign(n, ir::Cfg::kNone);
  for (u32 b = 0; b < f_.blocks.size(); ++b) {
    for (const ir::Phi& p : f_.blocks[b].phis) def_block_[p.dest.v] = b;
    for (const ir::Inst& i : f_.blocks[b].insts) ir::for_each_def(i, [&](ir::ValueId d) { def_block_[d.v] = b; });
  }
  find_crossing();
}

void Slots::find_crossing() {
  auto use = [&](const Operand& o, u32 b) {
    if (o.value.valid() && def_block_[o.value.v] != b) crosses_[o.value.v] = 1;
  };
  for (u32 b = 0; b < f_.blocks.size(); ++b) {
    for (const ir::Phi& p : f_.blocks[b].phis)
      for (std::size_t k = 0; k < p.in.size(); ++k) {
        use(p.in[k], f_.blocks[b].preds[k].v);
        if (p.in[k].value.valid() && same_place(p.dest, p.in[k].value)) crosses_[p.in[k].value.v] = 1;
      }
    for (const ir::Inst& i : f_.blocks[b].insts) ir::for_each_use(i, [&](const Operand& o) { use(o, b); });
    use(f_.blocks[b].term.cond, b);
  }
}

llvm::Value* Slots::slot_alloca(const Slot& s, llvm::Type* t, const char* name) {
  return s_.frame->slot_alloca(s.per_warp, t, name);
}

// In dispatched code a register is a place in memory, as on the device: the varying versions of it share a slot, in
// which each lane has its latest, so that no edge copies what only lives on.
bool Slots::in_register_slot(ir::ValueId id) const { return s_.frame->lanes_apart() && a_.shapes[id.v].varying(); }
bool Slots::same_place(ir::ValueId a, ir::ValueId b) const {
  return in_register_slot(a) && in_register_slot(b) && f_.origin[a.v] == f_.origin[b.v];
}
Slot& Slots::slot_of(ir::ValueId id) { return slots_[in_register_slot(id) ? f_.origin[id.v] : id.v]; }

void Slots::store_slot(Slot& s, LV& v, Value* blend) {
  const Shape& shape = v.shape;
  if (shape.varying()) {
    if (!s.vec) s.vec = slot_alloca(s, v_.vec_type(shape.bits), "v");
    Value* x = v_.vec(v);
    if (blend) x = b_.CreateSelect(blend, x, b_.CreateLoad(v_.vec_type(shape.bits), s_.frame->place(s.vec)));
    b_.CreateStore(x, s_.frame->place(s.vec));
    return;
  }
  if (shape.constant()) return;
  if (!s.base) s.base = slot_alloca(s, v_.int_type(shape.bits), "s");
  b_.CreateStore(v.base, s_.frame->place(s.base));
  if (shape.guarded) {
    if (!s.guard) s.guard = slot_alloca(s, b_.getInt1Ty(), "g");
    if (!s.vec) s.vec = slot_alloca(s, v_.vec_type(shape.bits), "v");
    b_.CreateStore(v.guard ? v.guard : b_.getTrue(), s_.frame->place(s.guard));
    b_.CreateStore(v_.vec(v), s_.frame->place(s.vec));
  }
}

LV Slots::load_slot(Slot& s, const Shape& shape) {
  LV v;
  v.shape = shape;
  v.vec_block = b_.GetInsertBlock();
  if (shape.varying()) {
    if (!s.vec) s.vec = slot_alloca(s, v_.vec_type(shape.bits), "v");
    v.vec = b_.CreateLoad(v_.vec_type(shape.bits), s_.frame->place(s.vec));
    return v;
  }
  if (shape.constant()) {
    v.base = v_.const_int(shape.bits, shape.value);
    return v;
  }
  if (!s.base) s.base = slot_alloca(s, v_.int_type(shape.bits), "s");
  v.base = b_.CreateLoad(v_.int_type(shape.bits), s_.frame->place(s.base));
  if (shape.guarded) {
    if (!s.guard) s.guard = slot_alloca(s, b_.getInt1Ty(), "g");
    if (!s.vec) s.vec = slot_alloca(s, v_.vec_type(shape.bits), "v");
    v.guard = b_.CreateLoad(b_.getInt1Ty(), s_.frame->place(s.guard));
    v.vec = b_.CreateLoad(v_.vec_type(shape.bits), s_.frame->place(s.vec));
  }
  return v;
}

// Brings v to the shape the analysis found for the destination and records it.
void Slots::define(ir::ValueId id, LV v) {
  const Shape& want = a_.shapes[id.v];
  const bool v_dirty = v.shape.nan == Shape::Nan::F32 || v.shape.nan == Shape::Nan::F64;
  if (v_dirty && want.nan != v.shape.nan) v = v_.canon(v);
  if (want.varying() && !v.shape.varying()) {
    Value* x = v_.vec(v);
    const auto nan = v.shape.nan;
    v = LV{};
    v.shape = varying_shape(want.bits);
    v.shape.nan = nan;
    v.vec = x;
    v.vec_block = b_.GetInsertBlock();
  }
  if (!want.varying() && v.shape.varying()) {  // the analysis knows more than this path computed: cannot happen
    std::fprintf(stderr, "understudy: shape mismatch at %%%u in %s\n", id.v, f_.name.c_str());
    US_UNREACHABLE();
  }
  LV slot_value = v;
  slot_value.shape = want;
  slot_value.shape.known = false;
  if (!want.constant()) {
    if (want.guarded && !v.guard) slot_value.guard = nullptr, slot_value.vec = v_.vec(v);
    if (crosses_[id.v]) {
      LV s = v;
      s.shape.guarded = want.guarded;
      s.shape.known = false;
      if (want.guarded && !s.vec) s.vec = v_.vec(v);
      store_slot(slot_of(id), s,
                 s_.frame->lanes_apart() && want.varying() && !s_.mask_full() ? s_.mask_vec() : nullptr);
    }
    if (!s_.frame->lanes_apart() && a_.shadow[id.v]) {
      if (!shadows_[id.v]) shadows_[id.v] = slot_alloca(slots_[id.v], v_.vec_type(want.bits), "shadow");
      Value* x = v_.vec(v);
      if (!s_.mask_full())
        x = b_.CreateSelect(s_.mask_vec(), x, b_.CreateLoad(v_.vec_type(want.bits), s_.frame->place(shadows_[id.v])));
      b_.CreateStore(x, s_.frame->place(shadows_[id.v]));
    }
  }
  v.shape.nan = want.nan == Shape::Nan::Never ? v.shape.nan : want.nan;
  values_[id.v] = v;
  value_block_[id.v] = s_.body[s_.cur];
}

LV Slots::read(ir::ValueId id) {
  if (def_block_[id.v] == ir::Cfg::kNone) {  // never written: some value, the same for all who read it
    LV v;
    v.shape = a_.shapes[id.v].varying() ? varying_shape(a_.shapes[id.v].bits) : uniform_shape(a_.shapes[id.v].bits);
    if (v.shape.varying())
      v.vec = llvm::Constant::getNullValue(v_.vec_type(v.shape.bits)), v.vec_block = b_.GetInsertBlock();
    else
      v.base = v_.const_int(v.shape.bits, 0);
    return v;
  }
  const bool shadow = !s_.frame->lanes_apart() && a_.shadow[id.v] &&
                      reads_shadow(a_, cfg_, id, def_block_[id.v], s_.cur) && !a_.shapes[id.v].constant();
  if (shadow) {
    LV v;
    v.shape = varying_shape(a_.shapes[id.v].bits);
    v.shape.nan = a_.shapes[id.v].nan;
    v.vec = b_.CreateLoad(v_.vec_type(v.shape.bits), s_.frame->place(shadows_[id.v]));
    v.vec_block = b_.GetInsertBlock();
    return v;
  }
  if (a_.shapes[id.v].constant() && !a_.shapes[id.v].varying()) {
    LV v;
    v.shape = a_.shapes[id.v];
    v.base = v_.const_int(v.shape.bits, v.shape.value);
    return v;
  }
  if (value_block_[id.v] == s_.body[s_.cur] && s_.body[s_.cur]) return values_[id.v];
  // One load serves the rest of the LLVM block: stores then see that their addresses have one base.
  if (loaded_.size() < f_.regs.size()) loaded_.resize(f_.regs.size());
  auto& [block, loaded] = loaded_[id.v];
  if (block != b_.GetInsertBlock()) {
    loaded = load_slot(slot_of(id), a_.shapes[id.v]);
    block = b_.GetInsertBlock();
  }
  return loaded;
}

void Slots::store_phis(u32 from, u32 to, Value* edge_mask, bool edge_full) {
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
      v = read(o.value);
    else {
      v.shape = constant_shape(want.bits, static_cast<u64>(o.imm));
      v.base = v_.const_int(want.bits, static_cast<u64>(o.imm));
    }
    const bool v_dirty = v.shape.nan == Shape::Nan::F32 || v.shape.nan == Shape::Nan::F64;
    const bool to_canon = v_dirty && want.nan != v.shape.nan;
    if (o.kind == Operand::Kind::Value && same_place(p.dest, o.value) && !to_canon) continue;
    if (to_canon) v = v_.canon(v);
    if (want.varying()) {
      Value* x = v_.vec(v);
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

void Slots::load_phis(u32 b) {
  for (const ir::Phi& p : f_.blocks[b].phis) {
    if (a_.shapes[p.dest.v].constant() || in_register_slot(p.dest)) continue;
    LV v = load_slot(phi_in_[p.dest.v], a_.shapes[p.dest.v]);
    v.shape.nan = a_.shapes[p.dest.v].nan;
    // Not written on some way: some value, for those who read it all the same.
    if (std::ranges::any_of(p.in, [](const Operand& o) { return o.kind == Operand::Kind::None; })) {
      if (v.base) v.base = b_.CreateFreeze(v.base);
      if (v.vec) v.vec = b_.CreateFreeze(v.vec);
    }
    define(p.dest, v);
  }
}

// What the block uses of other blocks' values, loaded once: LLVM cannot know that nothing changes a slot in between.
void Slots::load_inputs(u32 b) {
  auto load = [&](const Operand& o) {
    if (!o.value.valid() || a_.shapes[o.value.v].constant() || value_block_[o.value.v] == s_.body[b]) return;
    if (def_block_[o.value.v] == b && !is_phi_of(b, o.value)) return;
    values_[o.value.v] = read(o.value);
    value_block_[o.value.v] = s_.body[b];
  };
  for (const ir::Inst& i : f_.blocks[b].insts) ir::for_each_use(i, load);
  load(f_.blocks[b].term.cond);
}

bool Slots::is_phi_of(u32 b, ir::ValueId id) const {
  const auto& phis = f_.blocks[b].phis;
  return std::any_of(phis.begin(), phis.end(), [&](const ir::Phi& p) { return p.dest == id; });
}

}  // namespace us::codegen
