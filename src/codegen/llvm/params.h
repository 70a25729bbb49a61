// SPDX-License-Identifier: Apache-2.0
// Parameters of device functions and calls: 32-bit words interleaved by lane (plain words where the block is one
// thread).
#pragma once
#include <map>
#include <set>

#include "codegen/llvm/values.h"

namespace us::codegen {

inline u32 words(u32 bytes) { return (bytes + 3) / 4; }

class Params : private Part {
 public:
  Params(FunctionState& s, Values& v) : Part(s), v_(v) {}

  Value* buffer(ir::SymId, u32* offset);
  llvm::Type* word_type();
  Value* load_word(Value* buf, u32 word);
  void store_word(Value* buf, u32 word, Value*);
  V load(Value* buf, u32 byte, u32 bits);
  void store(Value* buf, u32 byte, V v, u32 bits, bool blend = true);
  bool stored_in_parts(ir::SymId);

 private:
  Value* word_place(Value* buf, u32 word);

  Values& v_;
  std::map<u32, Value*> param_bufs_;
  bool param_stores_counted_ = false;
  std::set<u32> stored_in_parts_;  // by SymId
};

}  // namespace us::codegen
