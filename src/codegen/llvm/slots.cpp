// SPDX-License-Identifier: Apache-2.0
// Values that outlive their block: stack slots, blended under the mask where lanes come separately.
#include "codegen/llvm/emitter.h"

namespace us::codegen {

Emitter::Emitter(FunctionState& s)
    : Part(s),
      low_bits_(s.lowered.low_bits),
      strides_(s.lowered.strides),
      reach_(s.lowered.reach),
      in_reach_(s.lowered.bounds.covered),
      reach_root_(s.lowered.bounds.by_root),
      v_(s),
      floats_(s.b),
      local_shift_(s.lowered.local_shift),
      cta_mode_(s.lowered.whole_cta()),
      rounds_(s.lowered.rounds),
      by_regions_(s.lowered.form == RunForm::Rounds),
      its_spins_(s.lowered.spins) {}

// A place that is read soon after it is written. Dispatched functions, which have many, share those of a name: each would be a part of
// a large frame. Elsewhere LLVM may take them apart, if no other access has an index that it does not know.
llvm::Value* Emitter::scratch(llvm::Type* t, const char* name) {
  if (!a_.its) return s_.new_alloca(t, name);
  Value*& place = scratch_[{t, name}];
  if (!place) place = s_.new_alloca(t, name);
  return place;
}

// In dispatched code a register is a place in memory, as on the device: the varying versions of it share a slot, in which
// each lane has its latest, so that no edge copies what only lives on.
bool Emitter::in_register_slot(ir::ValueId id) const { return a_.its && a_.shapes[id.v].varying(); }
bool Emitter::same_place(ir::ValueId a, ir::ValueId b) const {
  return in_register_slot(a) && in_register_slot(b) && f_.origin[a.v] == f_.origin[b.v];
}
Emitter::Slot& Emitter::slot_of(ir::ValueId id) { return slots_[in_register_slot(id) ? f_.origin[id.v] : id.v]; }

void Emitter::store_slot(Slot& s, LV& v, Value* blend) {
  const Shape& shape = v.shape;
  if (shape.varying()) {
    if (!s.vec) s.vec = slot_alloca(s, v_.vec_type(shape.bits), "v");
    Value* x = v_.vec(v);
    if (blend) x = b_.CreateSelect(blend, x, b_.CreateLoad(v_.vec_type(shape.bits), place(s.vec)));
    b_.CreateStore(x, place(s.vec));
    return;
  }
  if (shape.constant()) return;
  if (!s.base) s.base = slot_alloca(s, v_.int_type(shape.bits), "s");
  b_.CreateStore(v.base, place(s.base));
  if (shape.guarded) {
    if (!s.guard) s.guard = slot_alloca(s, b_.getInt1Ty(), "g");
    if (!s.vec) s.vec = slot_alloca(s, v_.vec_type(shape.bits), "v");
    b_.CreateStore(v.guard ? v.guard : b_.getTrue(), place(s.guard));
    b_.CreateStore(v_.vec(v), place(s.vec));
  }
}

LV Emitter::load_slot(Slot& s, const Shape& shape) {
  LV v;
  v.shape = shape;
  v.vec_block = b_.GetInsertBlock();
  if (shape.varying()) {
    if (!s.vec) s.vec = slot_alloca(s, v_.vec_type(shape.bits), "v");
    v.vec = b_.CreateLoad(v_.vec_type(shape.bits), place(s.vec));
    return v;
  }
  if (shape.constant()) {
    v.base = v_.const_int(shape.bits, shape.value);
    return v;
  }
  if (!s.base) s.base = slot_alloca(s, v_.int_type(shape.bits), "s");
  v.base = b_.CreateLoad(v_.int_type(shape.bits), place(s.base));
  if (shape.guarded) {
    if (!s.guard) s.guard = slot_alloca(s, b_.getInt1Ty(), "g");
    if (!s.vec) s.vec = slot_alloca(s, v_.vec_type(shape.bits), "v");
    v.guard = b_.CreateLoad(b_.getInt1Ty(), place(s.guard));
    v.vec = b_.CreateLoad(v_.vec_type(shape.bits), place(s.vec));
  }
  return v;
}

// Brings v to the shape the analysis found for the destination and records it.
void Emitter::define(ir::ValueId id, LV v) {
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
      store_slot(slot_of(id), s, a_.its && want.varying() && !s_.mask_full() ? s_.mask_vec() : nullptr);
    }
    if (!a_.its && a_.shadow[id.v]) {
      if (!shadows_[id.v]) shadows_[id.v] = slot_alloca(slots_[id.v], v_.vec_type(want.bits), "shadow");
      Value* x = v_.vec(v);
      if (!s_.mask_full())
        x = b_.CreateSelect(s_.mask_vec(), x, b_.CreateLoad(v_.vec_type(want.bits), place(shadows_[id.v])));
      b_.CreateStore(x, place(shadows_[id.v]));
    }
  }
  v.shape.nan = want.nan == Shape::Nan::Never ? v.shape.nan : want.nan;
  values_[id.v] = v;
  value_block_[id.v] = s_.body[s_.cur];
}

LV Emitter::read_value(ir::ValueId id) {
  if (def_block_[id.v] == ir::Cfg::kNone) {  // never written: some value, the same for all who read it
    LV v;
    v.shape = a_.shapes[id.v].varying() ? varying_shape(a_.shapes[id.v].bits) : uniform_shape(a_.shapes[id.v].bits);
    if (v.shape.varying())
      v.vec = llvm::Constant::getNullValue(v_.vec_type(v.shape.bits)), v.vec_block = b_.GetInsertBlock();
    else
      v.base = v_.const_int(v.shape.bits, 0);
    return v;
  }
  const bool shadow =
      !a_.its && a_.shadow[id.v] && reads_shadow(a_, cfg_, id, def_block_[id.v], s_.cur) && !a_.shapes[id.v].constant();
  if (shadow) {
    LV v;
    v.shape = varying_shape(a_.shapes[id.v].bits);
    v.shape.nan = a_.shapes[id.v].nan;
    v.vec = b_.CreateLoad(v_.vec_type(v.shape.bits), place(shadows_[id.v]));
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

}  // namespace us::codegen
