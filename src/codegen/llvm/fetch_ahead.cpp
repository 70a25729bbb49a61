// SPDX-License-Identifier: Apache-2.0
// Asks the host for memory that is read soon (strides.h). It guesses: a wrong address costs little and faults nowhere.
#include <algorithm>

#include "codegen/llvm/memory.h"

namespace us::codegen {
namespace {
constexpr i64 kLine = 64;          // bytes the host fetches at once
constexpr i64 kAhead = 4096;       // bytes: a page, which the host's own fetching does not leave
constexpr i64 kMaxSteps = 8;       // ... but not farther than so many steps
constexpr i64 kMaxLines = 16;      // of one access
constexpr i32 kNextToNearest = 2;  // into the second cache: the first is small, and few requests may wait for it
}  // namespace

void Memory::fetch_ahead(const MemRef& m, LV& addr) {
  if (m.space != isa::Space::Global || m.order != Order::Weak || !m.base.valid() || m.base_offset) return;
  if (m.base.v >= s_.lowered.strides.size() || !addr.shape.pattern()) return;
  const auto [step, of_grid] = s_.lowered.strides[m.base.v];
  const i64 size = step < 0 ? -step : step;
  const i64 span = addr.shape.max_offset() - addr.shape.min_offset() + i64{m.bits} / 8 * m.count;
  const bool dense = span <= i64{m.bits} / 8 * m.count * kWarpSize;
  if (size < kLine || span < kLine || !dense || span > kMaxLines * kLine) return;
  // Blocks that continue each other's part make one stream.
  if (of_grid && size == span * m_.facts.warps()) return;
  const i64 steps = std::clamp((kAhead + size - 1) / size, i64{1}, kMaxSteps);
  Value* p = b_.CreateIntToPtr(addr.base, b_.getPtrTy());
  for (i64 at = 0; at < span; at += kLine) {
    const i64 to = m.offset + addr.shape.min_offset() + at + step * steps;
    Value* there = b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<u64>(to)));
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                       {there, b_.getInt32(0), b_.getInt32(kNextToNearest), b_.getInt32(1)});
  }
}

}  // namespace us::codegen
