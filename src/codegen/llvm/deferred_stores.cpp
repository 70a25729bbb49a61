// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/deferred_stores.h"

#include <algorithm>

namespace us::codegen {

using isa::Space;

llvm::Value* pointer_at(llvm::IRBuilder<>& b, llvm::Value* root, llvm::Value* offset, i64 extra) {
  if (!root) {
    if (extra) offset = b.CreateAdd(offset, b.getInt64(static_cast<u64>(extra)));
    return b.CreateIntToPtr(offset, b.getPtrTy());
  }
  if (offset->getType()->getIntegerBitWidth() < 64) offset = b.CreateSExt(offset, b.getInt64Ty());
  llvm::Value* p = b.CreateGEP(b.getInt8Ty(), root, offset);
  return extra ? b.CreateGEP(b.getInt8Ty(), p, b.getInt64(static_cast<u64>(extra))) : p;
}

// Stores to shared memory with one base wait for their neighbours, so that interleaved stores fill whole windows.
void DeferredStores::defer(const MemRef& m, Value* root, LV& addr, const std::vector<Value*>& v) {
  Pending& p = pending_;
  if (p.base != addr.base || p.root != root || p.bits != m.bits || p.block != b_.GetInsertBlock()) flush();
  p.base = addr.base;
  p.root = root;
  p.bits = m.bits;
  p.block = b_.GetInsertBlock();
  for (u32 l = 0; l < kWarpSize; ++l)
    for (u32 c = 0; c < m.count; ++c) p.elements[m.offset + addr.shape.offset(l) + i64{c} * m.bits / 8] = {v[c], l};
}

void DeferredStores::flush() {
  Pending p = std::move(pending_);
  pending_ = Pending();
  if (p.elements.empty()) return;
  const u32 bytes = p.bits / 8, per_window = 64 / bytes;
  Value* base = pointer_at(b_, p.root, p.base, 0);
  for (auto it = p.elements.begin(); it != p.elements.end();) {
    const i64 start = it->first & ~i64{63};
    std::vector<std::pair<Value*, u32>> source(per_window, {nullptr, 0});
    u32 filled = 0;
    bool fits = true;
    auto end = it;
    for (; end != p.elements.end() && end->first < start + 64; ++end) {
      fits = fits && (end->first - start) % bytes == 0;
      source[static_cast<std::size_t>((end->first - start) / bytes)] = end->second;
      ++filled;
    }
    US_CHECK(fits);
    std::vector<Value*> values;
    for (auto& [v, lane] : source)
      if (v && std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
    Value* r = nullptr;
    for (Value* v : values) {
      std::vector<int> idx(per_window, -1), blend(per_window);
      for (u32 k = 0; k < per_window; ++k) {
        blend[k] = static_cast<int>(k);
        if (source[k].first != v) continue;
        idx[k] = static_cast<int>(source[k].second);
        blend[k] = static_cast<int>(k + per_window);
      }
      Value* t = b_.CreateShuffleVector(v, idx);
      r = r ? b_.CreateShuffleVector(r, t, blend) : t;
    }
    Value* at = b_.CreateGEP(b_.getInt8Ty(), base, b_.getInt64(static_cast<u64>(start)));
    if (filled == per_window) {
      m_.of_space(Space::Shared, b_.CreateAlignedStore(r, at, llvm::Align(bytes)));
    } else {
      std::vector<llvm::Constant*> which;
      for (auto& [v, lane] : source) which.push_back(b_.getInt1(v != nullptr));
      m_.of_space(Space::Shared, b_.CreateMaskedStore(r, at, llvm::Align(bytes), llvm::ConstantVector::get(which)));
    }
    it = end;
  }
}

}  // namespace us::codegen
