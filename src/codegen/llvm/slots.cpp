// SPDX-License-Identifier: Apache-2.0
// Values that outlive their block: stack slots, blended under the mask where lanes come separately.
#include "codegen/llvm/emitter.h"

namespace us::codegen {

Emitter::Emitter(ModuleEmitter& m, const Lowered& l, llvm::Function* out)
    : low_bits_(l.low_bits),
      strides_(l.strides),
      reach_(l.reach),
      in_reach_(l.bounds.covered),
      reach_root_(l.bounds.by_root),
      m_(m),
      f_(l.function),
      out_(out),
      b_(m.context),
      c_(m.context),
      cfg_(l.cfg),
      a_(l.analysis),
      local_shift_(l.local_shift),
      cta_mode_(l.whole_cta()),
      rounds_(l.rounds),
      by_regions_(l.form == RunForm::Rounds),
      its_spins_(l.spins) {}

llvm::Value* Emitter::new_alloca(llvm::Type* t, const char* name) {
  llvm::IRBuilder<> b(alloca_block_, alloca_block_->begin());
  auto* a = b.CreateAlloca(t, nullptr, name);
  if (t->isVectorTy() || t->isArrayTy()) a->setAlignment(llvm::Align(64));
  return a;
}

// A place that is read soon after it is written. Dispatched functions, which have many, share those of a name: each would be a part of
// a large frame. Elsewhere LLVM may take them apart, if no other access has an index that it does not know.
llvm::Value* Emitter::scratch(llvm::Type* t, const char* name) {
  if (!a_.its) return new_alloca(t, name);
  Value*& place = scratch_[{t, name}];
  if (!place) place = new_alloca(t, name);
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
    if (!s.vec) s.vec = slot_alloca(s, vec_type(shape.bits), "v");
    Value* x = vec(v);
    if (blend) x = b_.CreateSelect(blend, x, b_.CreateLoad(vec_type(shape.bits), place(s.vec)));
    b_.CreateStore(x, place(s.vec));
    return;
  }
  if (shape.constant()) return;
  if (!s.base) s.base = slot_alloca(s, int_type(shape.bits), "s");
  b_.CreateStore(v.base, place(s.base));
  if (shape.guarded) {
    if (!s.guard) s.guard = slot_alloca(s, b_.getInt1Ty(), "g");
    if (!s.vec) s.vec = slot_alloca(s, vec_type(shape.bits), "v");
    b_.CreateStore(v.guard ? v.guard : b_.getTrue(), place(s.guard));
    b_.CreateStore(vec(v), place(s.vec));
  }
}

LV Emitter::load_slot(Slot& s, const Shape& shape) {
  LV v;
  v.shape = shape;
  v.vec_block = b_.GetInsertBlock();
  if (shape.varying()) {
    if (!s.vec) s.vec = slot_alloca(s, vec_type(shape.bits), "v");
    v.vec = b_.CreateLoad(vec_type(shape.bits), place(s.vec));
    return v;
  }
  if (shape.constant()) {
    v.base = const_int(shape.bits, shape.value);
    return v;
  }
  if (!s.base) s.base = slot_alloca(s, int_type(shape.bits), "s");
  v.base = b_.CreateLoad(int_type(shape.bits), place(s.base));
  if (shape.guarded) {
    if (!s.guard) s.guard = slot_alloca(s, b_.getInt1Ty(), "g");
    if (!s.vec) s.vec = slot_alloca(s, vec_type(shape.bits), "v");
    v.guard = b_.CreateLoad(b_.getInt1Ty(), place(s.guard));
    v.vec = b_.CreateLoad(vec_type(shape.bits), place(s.vec));
  }
  return v;
}

// Brings v to the shape the analysis found for the destination and records it.
void Emitter::define(ir::ValueId id, LV v) {
  const Shape& want = a_.shapes[id.v];
  const bool v_dirty = v.shape.nan == Shape::Nan::F32 || v.shape.nan == Shape::Nan::F64;
  if (v_dirty && want.nan != v.shape.nan) v = canon(v);
  if (want.varying() && !v.shape.varying()) {
    Value* x = vec(v);
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
    if (want.guarded && !v.guard) slot_value.guard = nullptr, slot_value.vec = vec(v);
    if (crosses_[id.v]) {
      LV s = v;
      s.shape.guarded = want.guarded;
      s.shape.known = false;
      if (want.guarded && !s.vec) s.vec = vec(v);
      store_slot(slot_of(id), s, a_.its && want.varying() && !mask_full_ ? mask_vec() : nullptr);
    }
    if (!a_.its && a_.shadow[id.v]) {
      if (!shadows_[id.v]) shadows_[id.v] = slot_alloca(slots_[id.v], vec_type(want.bits), "shadow");
      Value* x = vec(v);
      if (!mask_full_) x = b_.CreateSelect(mask_vec(), x, b_.CreateLoad(vec_type(want.bits), place(shadows_[id.v])));
      b_.CreateStore(x, place(shadows_[id.v]));
    }
  }
  v.shape.nan = want.nan == Shape::Nan::Never ? v.shape.nan : want.nan;
  values_[id.v] = v;
  value_block_[id.v] = body_[cur_];
}

}  // namespace us::codegen
