// SPDX-License-Identifier: Apache-2.0
// An ordinary access that compiled code judges itself (probe/quick.h), where all is as usual.
#pragma once
#include "codegen/llvm/function_state.h"
#include "probe/quick.h"

namespace us::codegen {

// Lanes that lie behind each other, or have one address.
struct AccessPart {
  u32 lanes = 0;
  bool same = false;
  i64 offset = 0;  // of lane 0 of the row, or of all, from the base
};

class InPlace : private Part {
 public:
  InPlace(FunctionState& s, u32 site, probe::QuickAccess access, llvm::Value* quick)
      : Part(s), site_(site), access_(access), quick_(quick) {}
  // Goes on at `fine`, or at `call` with nothing done. `place`: of lane 0 of the row, or of all.
  void judge(const AccessPart&, Value* place, Block* fine, Block* call);

 private:
  Value* at(Value* address, llvm::Type*, u32 align);  // what stands there
  void put(Value* what, Value* address, u32 align);
  Value* field(u64 offset, llvm::Type*, u32 align = 8);
  void go(Value* yes, Block* to, Block* otherwise);
  void mark(const AccessPart&, Value* low, Value* words, Value* sites, Block* fine, Block* call);
  bool has_record(const AccessPart&) const;
  Value* step(const AccessPart&, Value* low);
  void fetch(Value* address);
  void fetch_next(const AccessPart&, Value* low, Value* step);
  // step: to what comes next, or null
  void record(const AccessPart&, Value* low, Value* least, Value* step, Block* fine, Block* call);
  Value* pairs(const AccessPart&, u64 first, u64 step, u64 second, u64 second_step);
  u32 first(const AccessPart& p) const { return p.same ? 0 : static_cast<u32>(std::countr_zero(p.lanes)); }
  u32 bytes(const AccessPart& p) const {
    return (p.same ? 1 : static_cast<u32>(std::popcount(p.lanes))) * access_.bytes;
  }

  const u32 site_;
  const probe::QuickAccess access_;
  Value* quick_;
};

}  // namespace us::codegen
