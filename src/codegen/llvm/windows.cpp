// SPDX-License-Identifier: Apache-2.0
// Pattern accesses: whole windows of 64 bytes with constant shuffles, rows of two-dimensional indices, and shared
// stores that wait for their neighbours.
#include <algorithm>
#include <map>

#include "codegen/llvm/memory.h"
#include "codegen/llvm/windows.h"

namespace us::codegen {

using isa::Space;

// `aligned`: windows start at multiples of 64 from the base, so that neighbouring accesses share them.
Windows plan_windows(const Shape& s, u32 bytes, u32 count, u32 limit, i64 offset, bool aligned) {
  Windows w;
  w.per_window = 64 / bytes;
  std::set<i64> at;
  for (u32 l = 0; l < kWarpSize; ++l)
    for (u32 c = 0; c < count; ++c) at.insert(offset + s.offset(l) + i64{c} * bytes);
  for (i64 o : at) {
    if (w.list.empty() || o - w.list.back().start >= 64) {
      if (w.list.size() == limit) return w;
      w.list.push_back({aligned && o % bytes == 0 ? o & ~i64{63} : o, {}});
    }
    const i64 d = o - w.list.back().start;
    if (d % bytes) return w;
    w.list.back().elements.insert(static_cast<u32>(d / bytes));
  }
  w.ok = true;
  return w;
}

bool is_consecutive(const Shape& s, u32 bytes) {
  for (u32 l = 0; l < kWarpSize; ++l)
    if (s.offset(l) != s.offset(0) + i64{l} * bytes) return false;
  return true;
}

bool Memory::load_windows(const MemRef& m, Value* base, const Shape& shape, std::vector<Value*>& out) {
  const u32 bytes = m.bits / 8;
  // Whole windows may be read where memory is known to go on: the window of a CTA.
  const bool whole = m.space == Space::Shared;
  const Windows w = plan_windows(shape, bytes, m.count, 9 * m.count, m.offset, whole);
  if (!w.ok) return false;
  auto* wide = llvm::FixedVectorType::get(v_.int_type(m.bits), w.per_window);
  std::vector<Value*> data;
  for (const auto& win : w.list) {
    Value* p = b_.CreateGEP(b_.getInt8Ty(), base, b_.getInt64(static_cast<u64>(win.start)));
    if (win.elements.size() == 1) {
      Value* one = b_.CreateGEP(v_.int_type(m.bits), p, b_.getInt64(*win.elements.begin()));
      Value* x = m_.of_space(m.space, b_.CreateAlignedLoad(v_.int_type(m.bits), one, llvm::Align(bytes)));
      data.push_back(b_.CreateVectorSplat(w.per_window, x));
    } else if (whole || win.elements.size() == w.per_window) {
      data.push_back(m_.of_space(m.space, b_.CreateAlignedLoad(wide, p, llvm::Align(bytes))));
    } else if (*win.elements.rbegin() + 1 == win.elements.size()) {  // a dense prefix
      auto* part = llvm::FixedVectorType::get(v_.int_type(m.bits), static_cast<u32>(win.elements.size()));
      Value* x = m_.of_space(m.space, b_.CreateAlignedLoad(part, p, llvm::Align(bytes)));
      std::vector<int> idx(w.per_window, -1);
      for (u32 k = 0; k < win.elements.size(); ++k) idx[k] = static_cast<int>(k);
      data.push_back(b_.CreateShuffleVector(x, idx));
    } else {
      std::vector<llvm::Constant*> need;
      for (u32 k = 0; k < w.per_window; ++k) need.push_back(b_.getInt1(win.elements.count(k)));
      data.push_back(
          m_.of_space(m.space, b_.CreateMaskedLoad(wide, p, llvm::Align(bytes), llvm::ConstantVector::get(need),
                                                   llvm::PoisonValue::get(wide))));
    }
  }
  for (u32 c = 0; c < m.count; ++c) {
    Value* r = nullptr;
    for (std::size_t k = 0; k < w.list.size(); ++k) {
      std::vector<int> idx(kWarpSize, -1), blend(kWarpSize);
      bool any = false;
      for (u32 l = 0; l < kWarpSize; ++l) {
        const i64 d = m.offset + shape.offset(l) + i64{c} * bytes - w.list[k].start;
        blend[l] = static_cast<int>(l);
        if (d < 0 || d >= 64) continue;
        idx[l] = static_cast<int>(d / bytes);
        blend[l] = static_cast<int>(l + kWarpSize);
        any = true;
      }
      if (!any) continue;
      Value* t = b_.CreateShuffleVector(data[k], idx);
      r = r ? b_.CreateShuffleVector(r, t, blend) : t;
    }
    out[c] = r;
  }
  return true;
}

bool Memory::store_windows(const MemRef& m, Value* base, const Shape& shape, std::vector<Value*>& in) {
  const u32 bytes = m.bits / 8;
  const Windows w = plan_windows(shape, bytes, m.count, 8 * m.count);
  if (!w.ok) return false;
  for (const auto& win : w.list) {
    Value* r = nullptr;
    std::vector<int> lane_of_element(w.per_window, -1), comp_of_element(w.per_window, -1);
    for (u32 l = 0; l < kWarpSize; ++l)  // lanes that write the same place: the highest wins
      for (u32 c = 0; c < m.count; ++c) {
        const i64 d = shape.offset(l) + i64{c} * bytes - win.start;
        if (d < 0 || d >= 64) continue;
        lane_of_element[static_cast<std::size_t>(d / bytes)] = static_cast<int>(l);
        comp_of_element[static_cast<std::size_t>(d / bytes)] = static_cast<int>(c);
      }
    for (u32 c = 0; c < m.count; ++c) {
      std::vector<int> idx(w.per_window, -1), blend(w.per_window);
      bool any = false;
      for (u32 k = 0; k < w.per_window; ++k) {
        blend[k] = static_cast<int>(k);
        if (comp_of_element[k] != static_cast<int>(c)) continue;
        idx[k] = lane_of_element[k];
        blend[k] = static_cast<int>(k + w.per_window);
        any = true;
      }
      if (!any) continue;
      Value* t = b_.CreateShuffleVector(in[c], idx);
      r = r ? b_.CreateShuffleVector(r, t, blend) : t;
    }
    Value* p = b_.CreateGEP(b_.getInt8Ty(), base, b_.getInt64(static_cast<u64>(win.start)));
    if (win.elements.size() == w.per_window) {
      m_.of_space(m.space, b_.CreateAlignedStore(r, p, llvm::Align(bytes)));
    } else {
      std::vector<llvm::Constant*> which;
      for (u32 k = 0; k < w.per_window; ++k) which.push_back(b_.getInt1(win.elements.count(k)));
      m_.of_space(m.space, b_.CreateMaskedStore(r, p, llvm::Align(bytes), llvm::ConstantVector::get(which)));
    }
  }
  return true;
}

// Rows of a two-dimensional index: both half-warps read consecutive words, though the compiler cannot know. Returns the
// i1 that says so and the two row pointers.
llvm::Value* Memory::rows_test(const MemRef& m, Value* root, LV& addr, Value** low, Value** high) {
  Value* a = v_.vec(addr);
  const u32 bits = a->getType()->getScalarSizeInBits();
  std::vector<llvm::Constant*> steps;
  std::vector<int> firsts;
  for (u32 l = 0; l < kWarpSize; ++l) {
    steps.push_back(llvm::ConstantInt::get(v_.int_type(bits), (l % 16) * 4));
    firsts.push_back(l < 16 ? 0 : 16);
  }
  Value* start = b_.CreateSub(a, llvm::ConstantVector::get(steps));
  Value* same = b_.CreateBitCast(b_.CreateICmpEQ(start, b_.CreateShuffleVector(start, firsts)), b_.getInt32Ty());
  if (!s_.mask_full()) same = b_.CreateOr(same, b_.CreateNot(s_.mask()));
  *low = pointer_at(b_, root, b_.CreateExtractElement(a, u64{0}), m.offset);
  *high = pointer_at(b_, root, b_.CreateExtractElement(a, u64{16}), m.offset);
  return b_.CreateICmpEQ(same, b_.getInt32(kFullMask));
}

llvm::Value* Memory::half_mask(bool high) {
  Value* m = b_.CreateTrunc(high ? b_.CreateLShr(s_.mask(), 16) : s_.mask(), b_.getInt16Ty());
  return b_.CreateBitCast(m, llvm::FixedVectorType::get(b_.getInt1Ty(), 16));
}

llvm::Value* Memory::load_rows(const MemRef& m, Value* root, LV& addr) {
  Value *low = nullptr, *high = nullptr;
  Value* rows = rows_test(m, root, addr, &low, &high);
  auto* yes = Block::Create(c_, "ld.rows", s_.out);
  auto* no = Block::Create(c_, "ld.gather", s_.out);
  auto* join = Block::Create(c_, "ld.done", s_.out);
  b_.CreateCondBr(rows, yes, no);
  b_.SetInsertPoint(no);
  Value* slow = gather(m, root, addr, m.offset);
  Block* no_end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(yes);
  auto* row = llvm::FixedVectorType::get(b_.getInt32Ty(), 16);
  auto half = [&](Value* p, bool is_high) -> Value* {
    if (s_.mask_full()) return m_.of_space(m.space, b_.CreateAlignedLoad(row, p, llvm::Align(4)));
    return m_.of_space(m.space,
                       b_.CreateMaskedLoad(row, p, llvm::Align(4), half_mask(is_high), llvm::PoisonValue::get(row)));
  };
  std::vector<int> both;
  for (int l = 0; l < 32; ++l) both.push_back(l);
  Value* lo = half(low, false);
  Value* fast = b_.CreateShuffleVector(lo, half(high, true), both);
  Block* yes_end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  auto* phi = b_.CreatePHI(v_.vec_type(32), 2);
  phi->addIncoming(fast, yes_end);
  phi->addIncoming(slow, no_end);
  return phi;
}

void Memory::store_rows(const MemRef& m, Value* root, LV& addr, Value* v) {
  Value *low = nullptr, *high = nullptr;
  Value* rows = rows_test(m, root, addr, &low, &high);
  auto* yes = Block::Create(c_, "st.rows", s_.out);
  auto* no = Block::Create(c_, "st.scatter", s_.out);
  auto* join = Block::Create(c_, "st.done", s_.out);
  b_.CreateCondBr(rows, yes, no);
  b_.SetInsertPoint(no);
  scatter(m, root, addr, m.offset, v);
  b_.CreateBr(join);
  b_.SetInsertPoint(yes);
  auto half = [&](Value* p, bool is_high) {
    std::vector<int> which;
    for (int l = 0; l < 16; ++l) which.push_back(l + (is_high ? 16 : 0));
    Value* x = b_.CreateShuffleVector(v, which);
    if (s_.mask_full())
      m_.of_space(m.space, b_.CreateAlignedStore(x, p, llvm::Align(4)));
    else
      m_.of_space(m.space, b_.CreateMaskedStore(x, p, llvm::Align(4), half_mask(is_high)));
  };
  half(low, false);
  half(high, true);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
}

}  // namespace us::codegen
