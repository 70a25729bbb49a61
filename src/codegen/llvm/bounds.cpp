// SPDX-License-Identifier: Apache-2.0
// Where a thread may touch memory. Device memory lies in one part of the address space (memory/address_space.h) with
// nothing around it, so the address of an array is tested once for all accesses whose index is bounded (reach.h); what
// has no memory faults by itself. Offsets of shared memory are tested against what the block has, those of local memory
// against the lane's; both only where the compiler does not know.
#include <algorithm>
#include <bit>

#include "codegen/llvm/access_tests.h"
#include "memory/address_space.h"

namespace us::codegen {

using device::BadAccess;
using device::GridCtx;
using device::RtFn;
using device::WarpCtx;
using isa::Space;

namespace {

u32 bytes_of(const MemRef& m) { return m.bits / 8 * m.count; }

Extent extent(const MemRef& m, const Shape& s) {
  if (!s.pattern()) return {m.offset, m.offset + bytes_of(m) - 1};
  return {m.offset + s.min_offset(), m.offset + s.max_offset() + bytes_of(m) - 1};
}
bool near(i64 d) { return d > -(i64{1} << 36) && d < i64{1} << 36; }

}  // namespace

llvm::Value* AccessTests::lanes_of(Value* flags) {
  Value* lanes = b_.CreateBitCast(flags, b_.getInt32Ty());
  return s_.mask_full() ? lanes : b_.CreateAnd(lanes, s_.mask());
}

// Outside of the global part of the address space, of an address or of 32.
llvm::Value* AccessTests::is_outside(Value* a, i64 offset) {
  auto number = [&](u64 x) { return llvm::ConstantInt::get(a->getType(), x); };
  auto like = [&](Value* x) { return a->getType()->isVectorTy() ? b_.CreateVectorSplat(kWarpSize, x) : x; };
  if (offset) a = b_.CreateAdd(a, number(static_cast<u64>(offset)));
  using memory::AddressSpace;
  constexpr u64 kShift = std::countr_zero(AddressSpace::kUsualBytes);
  if (m_.facts.usual_space)
    return b_.CreateICmpNE(b_.CreateLShr(a, number(kShift)), number(AddressSpace::kUsualStart >> kShift));
  Value* start = s_.load_at(s_.grid, offsetof(GridCtx, global_start), b_.getInt64Ty(), "global");
  Value* bytes = s_.load_at(s_.grid, offsetof(GridCtx, global_bytes), b_.getInt64Ty(), "global.bytes");
  return b_.CreateICmpUGE(b_.CreateSub(a, like(start)), like(bytes));
}

// Not zero if the address is outside: one flag for a base that speaks for all lanes, else one a lane.
llvm::Value* AccessTests::outside_global(LV& addr, i64 offset) {
  const bool scalar = !addr.shape.varying() && !addr.guard;
  if (scalar) return b_.CreateZExt(is_outside(addr.base, offset), b_.getInt32Ty());
  return lanes_of(is_outside(v_.vec(addr), offset));
}

void AccessTests::require_bounds(const MemRef& m, LV& addr, bool writes) {
  switch (m.space) {
    case Space::Shared:
    case Space::SharedCluster:
      return shared_bounds(m, addr);
    case Space::Local:
      return local_bounds(m, addr);
    case Space::Param:
      return m.addr ? param_bounds(m, addr) : void();
    case Space::Generic:
      return m_.facts.asks ? void() : generic_bounds(m, addr);
    default:
      return m_.facts.asks && m.space == Space::Global ? void() : global_bounds(m, addr, writes);
  }
}

void AccessTests::global_bounds(const MemRef& m, LV& addr, bool writes) {
  const std::pair<const ir::Inst*, u32> key{s_.inst, m.base.v};
  const bool planned = m.base.valid() && m.base_offset == 0 && near(m.offset);
  if (!planned || !in_reach_.contains(key)) {
    const auto root = reach_root_.find(key);
    LV by = addr;
    if (planned && root != reach_root_.end() && root->second != m.base) by = slots_.read(root->second);
    const Extent e = extent(m, by.shape);
    note(outside_global(by, near(e.first) && near(e.last) ? 0 : e.first), BadAccess::Global, m, addr);
  }
  if (writes) make_all();
}

llvm::Value* AccessTests::shared_end() {
  return s_.load_at(s_.grid, offsetof(GridCtx, shared_end), b_.getInt32Ty(), "shared.end");
}
llvm::Value* AccessTests::local_bytes() {
  return s_.load_at(s_.ctx0, offsetof(WarpCtx, local_stride), b_.getInt64Ty(), "local.stride");
}
llvm::Value* AccessTests::cluster_blocks() {
  Value* n = b_.getInt32(1);
  for (u64 k = 0; k < 3 && !m_.facts.cluster_one; ++k)
    n = b_.CreateMul(n, s_.load_at(s_.grid, offsetof(GridCtx, cluster) + 4 * k, b_.getInt32Ty(), "cluster"));
  return n;
}

// Lanes whose access is not in what the blocks of the cluster have, by generic address.
llvm::Value* AccessTests::lanes_outside_window(LV& addr, const MemRef& m) {
  auto splat = [&](u64 v) { return llvm::ConstantInt::get(v_.vec_type(64), v); };
  auto wide = [&](Value* v) { return b_.CreateVectorSplat(kWarpSize, b_.CreateZExt(v, b_.getInt64Ty())); };
  constexpr u64 kStride = device::kCtaSharedStride;
  Value* window = b_.CreatePtrToInt(s_.window, b_.getInt64Ty());
  Value* d = b_.CreateSub(v_.vec(addr), wide(b_.CreateSub(window, b_.getInt64(static_cast<u64>(m.offset)))));
  Value* beyond = b_.CreateICmpUGE(d, b_.CreateMul(wide(cluster_blocks()), splat(kStride)));
  Value* last = b_.CreateSub(wide(shared_end()), splat(bytes_of(m)));
  return b_.CreateOr(beyond, b_.CreateICmpUGT(b_.CreateAnd(d, splat(kStride - 1)), last));
}

// Most generic addresses are global ones; those of the cluster's shared memory are tested here, and the runtime knows
// the rest.
void AccessTests::generic_bounds(const MemRef& m, LV& addr) {
  stores_.flush();
  Block* go = cold_block(b_.CreateICmpNE(outside_global(addr, m.offset), b_.getInt32(0)), "windows", "generic");
  Value* bad = b_.CreateAnd(is_outside(v_.vec(addr), m.offset), lanes_outside_window(addr, m));
  Block* window = cold_block(b_.CreateICmpNE(lanes_of(bad), b_.getInt32(0)), "other", "window");
  V at = v_.make(addr), none;
  if (m.offset) at = v_.bin(Bin::Add, at, v_.imm(64, static_cast<u64>(m.offset)));
  runtime_.call(RtFn::CheckGeneric, {at, v_.imm(64, bytes_of(m))}, {}, &none);
  b_.CreateBr(window);
  b_.SetInsertPoint(window);
  b_.CreateBr(go);
  b_.SetInsertPoint(go);
}

// The index is known to stay inside.
bool AccessTests::in_variable(const MemRef& m, Space space) const {
  if (!m.base.valid() || m.base.v >= reach_.size() || !reach_[m.base.v].symbol.valid()) return false;
  const Reach& r = reach_[m.base.v];
  const ir::Symbol& s = m_.ir.symbols[r.symbol.v];
  const i64 add = m.base_offset + m.offset;
  return s.space == space && r.low + add >= 0 && r.high + add + bytes_of(m) <= static_cast<i64>(s.size);
}

// Negative numbers are refused: a test is two or three operations on the base of the address, or on 32 offsets. `e` are
// the first and the last byte from what `v` holds; `above`: the first one is known not to be negative.
llvm::Value* AccessTests::outside_shared(Value* v, Extent e, bool above, Value* end) {
  const bool scalar = !v->getType()->isVectorTy();
  v = b_.CreateZExtOrTrunc(v, scalar ? static_cast<llvm::Type*>(b_.getInt32Ty()) : v_.vec_type(32));
  auto like = [&](Value* x) { return scalar ? x : b_.CreateVectorSplat(kWarpSize, x); };
  auto number = [&](i64 x) { return llvm::ConstantInt::get(v->getType(), static_cast<u64>(x), true); };
  Value* first = e.first ? b_.CreateAdd(v, number(e.first)) : v;
  Value* in_block = v;
  Value* bad = nullptr;
  if (!m_.facts.cluster_one) {
    constexpr u32 kStride = static_cast<u32>(device::kCtaSharedStride);
    in_block = b_.CreateSub(b_.CreateAnd(first, number(kStride - 1)), number(e.first));
    Value* all = b_.CreateSub(b_.CreateMul(cluster_blocks(), b_.getInt32(kStride)), b_.getInt32(1));
    bad = b_.CreateOr(first, b_.CreateSub(like(all), first));
  } else if (!above) {
    bad = first;
  }
  Value* room = b_.CreateSub(like(b_.CreateSub(end, b_.getInt32(static_cast<u32>(e.last + 1)))), in_block);
  bad = bad ? b_.CreateOr(bad, room) : room;
  return scalar ? b_.CreateLShr(bad, 31) : b_.CreateICmpSLT(bad, number(0));
}

// Where the kernel's variables of fixed size end, no address is expected beyond: a launch with dynamic shared memory
// that the kernel does not name has more.
void AccessTests::shared_bounds(const MemRef& m, LV& addr) {
  if (in_variable(m, Space::Shared)) return;
  constexpr u64 kGrain = device::kSharedGrain;
  const u64 fixed_end = (device::kReservedShared + u64{m_.shared_static} + kGrain - 1) / kGrain * kGrain;
  const u64 low = addr.shape.known ? addr.shape.value : addr.shape.lo, high = addr.shape.known ? low : addr.shape.hi;
  const bool small = !addr.shape.varying() && !addr.guard && high < u64{1} << 31;
  const Extent all = extent(m, addr.shape), own{m.offset, m.offset + bytes_of(m) - 1};
  const bool above = small && static_cast<i64>(low) + all.first >= 0;
  if (m_.facts.cluster_one && above && static_cast<i64>(high) + all.last < static_cast<i64>(fixed_end)) return;
  if (addr.shape.varying() || addr.guard)
    return note(lanes_of(outside_shared(v_.vec(addr), own, above, shared_end())), BadAccess::Shared, m, addr);
  // Lanes that are not there may be outside: where the whole pattern does not fit, each lane is looked at.
  const bool part = addr.shape.pattern() && !s_.mask_full(), fixed = !m_.shared_unsized;
  std::function<Value*()> exact;
  if (part)
    exact = [this, own, above, a = addr, lanes = s_.mask()]() mutable {
      return b_.CreateAnd(b_.CreateBitCast(outside_shared(v_.vec(a), own, above, shared_end()), b_.getInt32Ty()),
                          lanes);
    };
  else if (fixed)
    exact = [this, all, above, base = addr.base] { return outside_shared(base, all, above, shared_end()); };
  Value* end = fixed ? b_.getInt32(static_cast<u32>(fixed_end)) : shared_end();
  note(outside_shared(addr.base, all, above, end), BadAccess::Shared, m, addr, std::move(exact));
}

// Variables with an index that stays inside are not tested; a frame is known to have room (require_stack).
void AccessTests::local_bounds(const MemRef& m, LV& addr) {
  if (!m.addr || in_variable(m, Space::Local)) return;
  LV offset = v_.at(v_.resize(v_.canon(m.addr), 64, false));
  if (offset.shape.constant() && offset.shape.uniform() && f_.entry &&
      static_cast<i64>(offset.shape.value) + m.offset >= 0 &&
      offset.shape.value + static_cast<u64>(m.offset) + bytes_of(m) <= f_.local_bytes)
    return;
  Value* limit = b_.CreateSub(local_bytes(), b_.getInt64(bytes_of(m)));
  const u64 add = device::kLocalBefore + static_cast<u64>(m.offset);
  Value* d = b_.CreateAdd(v_.vec(offset), llvm::ConstantInt::get(v_.vec_type(64), add));
  note(lanes_of(b_.CreateICmpUGT(d, b_.CreateVectorSplat(kWarpSize, limit))), BadAccess::Local, m, offset);
  make_all();
}

// The address of a parameter is its offset in the block of parameters.
void AccessTests::param_bounds(const MemRef& m, LV& addr) {
  Value* d = b_.CreateAdd(v_.vec(addr), llvm::ConstantInt::get(v_.vec_type(64), static_cast<u64>(m.offset)));
  Value* bad = b_.CreateICmpUGT(d, llvm::ConstantInt::get(v_.vec_type(64), device::kParamBytes - bytes_of(m)));
  note(lanes_of(bad), BadAccess::Param, m, addr);
}

// A frame of a device function must fit behind those of its callers.
void AccessTests::require_stack(Value* top) {
  Value* limit = b_.CreateTrunc(local_bytes(), b_.getInt32Ty());
  limit = b_.CreateSub(limit, b_.getInt32(device::kLocalBefore + device::kLocalBehind));
  Block* go = cold_block(b_.CreateICmpSGT(top, limit), "overflow", "frame");
  runtime_.end_launch(RtFn::StackOverflow, s_.out->getArg(1), llvm::ConstantPointerNull::get(b_.getPtrTy()));
  b_.SetInsertPoint(go);
}

}  // namespace us::codegen
