// SPDX-License-Identifier: Apache-2.0
// Where pending masks and slots are known to hold nothing: see forgetting.cpp.
#pragma once
#include "codegen/llvm/slots.h"

namespace us::codegen {

class Forgetting : private Part {
 public:
  // checked, pending: by block; position: in the layout, by block
  Forgetting(FunctionState& s, Slots& slots, const std::vector<u8>& checked, const std::vector<Value*>& pending,
             const std::vector<u32>& position)
      : Part(s), slots_(slots), checked_(checked), pending_(pending), position_(position) {}

  void plan();
  bool opens(u32 from, u32 to) const;
  void at_check(u32 block, Value* first);  // `first`: the check's first instruction
  // When all slots are known. warp_start: where a warp begins, if it finds what the one before it has left; but not
  // values of `kept`.
  void forget_slots(llvm::Instruction* warp_start, const std::vector<u8>* kept);

 private:
  bool in_loops_of(u32 inner, u32 outer) const;
  u32 first_source(u32 block) const;
  u32 place_to_forget(u32 source, u32 block) const;

  Slots& slots_;
  const std::vector<u8>& checked_;
  const std::vector<Value*>& pending_;
  const std::vector<u32>& position_;
  std::vector<u32> opens_;  // by block: the first that makes lanes wait for it, if there is one such edge
  std::vector<std::vector<u32>> forgotten_;  // by block: at its check nobody waits for these
  std::vector<llvm::Instruction*> forget_at_;
};

bool has_many_blocks(const ir::Function&, u32 limit);

}  // namespace us::codegen
