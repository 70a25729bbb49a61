// SPDX-License-Identifier: Apache-2.0
// Values by ValueId. Those used in another block than they are defined in live in allocas (Slot), which mem2reg turns
// into SSA again: a skipped block leaves them undefined, which no lane observes.
#pragma once
#include "codegen/llvm/values.h"

namespace us::codegen {

struct Slot {
  llvm::Value* base = nullptr;
  llvm::Value* vec = nullptr;
  llvm::Value* guard = nullptr;
  bool per_warp = false;
};

class Slots : private Part {
 public:
  Slots(FunctionState& s, Values& v) : Part(s), v_(v) {}

  void prepare();

  LV read(ir::ValueId);
  void define(ir::ValueId, LV);
  void load_phis(u32 block);
  void store_phis(u32 from, u32 to, Value* edge_mask, bool edge_full);
  void load_inputs(u32 block);

  u32 def_block(u32 value) const { return def_block_[value]; }
  Slot& of_value(u32 value) { return slots_[value]; }
  Slot& of_phi(u32 value) { return phi_in_[value]; }

 private:
  Slot& slot_of(ir::ValueId);
  bool in_register_slot(ir::ValueId) const;
  bool same_place(ir::ValueId, ir::ValueId) const;
  bool is_phi_of(u32 b, ir::ValueId) const;
  void find_crossing();
  void store_slot(Slot&, LV&, Value* blend_mask);
  LV load_slot(Slot&, const Shape&);
  Value* slot_alloca(const Slot&, llvm::Type*, const char* name);

  Values& v_;
  std::vector<LV> values_;  // by ValueId, valid in `value_block_`
  std::vector<Block*> value_block_;
  std::vector<std::pair<Block*, LV>> loaded_;  // by ValueId: read from its slot in this LLVM block
  std::vector<Slot> slots_, phi_in_;
  std::vector<Value*> shadows_;  // by ValueId
  std::vector<u8> crosses_;      // by ValueId: used in another block
  std::vector<u32> def_block_;
};

}  // namespace us::codegen
