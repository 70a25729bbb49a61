// SPDX-License-Identifier: Apache-2.0
// Addresses: symbols, generic and windowed.
#include "codegen/llvm/memory.h"

namespace us::codegen {

using device::GridCtx;
using device::WarpCtx;
using isa::Space;

V Memory::symbol_address(ir::SymId id, i64 offset) {
  const ir::Symbol& s = m_.ir.symbols[id.v];
  switch (s.space) {
    case Space::Shared: {
      if (m_.facts.cluster_one) return v_.imm(64, s.offset + static_cast<u64>(offset));
      Value* base = b_.CreateZExt(s_.load_at(s_.ctx0, offsetof(WarpCtx, shared_base), b_.getInt32Ty(), "shared"),
                                  b_.getInt64Ty());
      return v_.make_uniform(b_.CreateAdd(base, b_.getInt64(s.offset + static_cast<u64>(offset))), uniform_shape(64));
    }
    case Space::Local: {
      Value* base = s_.local_base ? b_.CreateZExt(b_.CreateLoad(b_.getInt32Ty(), s_.local_base), b_.getInt64Ty())
                                  : static_cast<Value*>(b_.getInt64(0));
      const auto shift = s_.lowered.local_shift.find(id.v);
      const u64 start = s.offset + (shift == s_.lowered.local_shift.end() ? 0 : shift->second);
      return v_.make_uniform(b_.CreateAdd(base, b_.getInt64(start + static_cast<u64>(offset))), uniform_shape(64));
    }
    case Space::Param: {
      u32 at_byte = 0;
      for (const ir::Param& p : f_.params)
        if (p.sym == id) at_byte = p.offset;
      return v_.imm(64, at_byte + static_cast<u64>(offset));
    }
    default: {
      Value* table = s_.load_at(s_.grid, offsetof(GridCtx, symbols), b_.getPtrTy(), "symbols");
      Value* a = s_.load_at(table, std::size_t{id.v} * 8, b_.getInt64Ty(), "symbol");
      return v_.make_uniform(offset ? b_.CreateAdd(a, b_.getInt64(static_cast<u64>(offset))) : a, uniform_shape(64));
    }
  }
}

V Memory::to_generic(Space s, V a) {
  a = v_.resize(v_.canon(a), 64, false);
  if (s == Space::Shared || s == Space::SharedCluster) {
    Value* w = b_.CreatePtrToInt(s_.window, b_.getInt64Ty());
    return v_.bin(Bin::Add, a, v_.make_uniform(w, uniform_shape(64)));
  }
  if (s == Space::Local) {
    Value* base = b_.CreatePtrToInt(s_.load_at(s_.frame->ctx(), offsetof(WarpCtx, local), b_.getPtrTy(), "local"),
                                    b_.getInt64Ty());
    Value* stride = s_.load_at(s_.ctx0, offsetof(WarpCtx, local_stride), b_.getInt64Ty(), "stride");
    V lanes = v_.resize(v_.lane_id(), 64, false);
    V start = v_.make_varying(b_.CreateAdd(b_.CreateMul(v_.vec(lanes), b_.CreateVectorSplat(kWarpSize, stride)),
                                           b_.CreateVectorSplat(kWarpSize, base)),
                              64);
    return v_.bin(Bin::Add, start, a);
  }
  return v_.bin(Bin::Add, a, s == Space::Param ? parameters() : v_.imm(64, 0));
}

// Where the kernel's parameters begin, as a generic address.
V Memory::parameters() {
  Value* start = s_.load_at(s_.grid, offsetof(GridCtx, params), b_.getPtrTy(), "params");
  return v_.make_uniform(b_.CreatePtrToInt(start, b_.getInt64Ty()), uniform_shape(64));
}

V Memory::from_generic(Space s, V a) {
  a = v_.canon(a);
  V start;
  if (s == Space::Shared || s == Space::SharedCluster)
    start = v_.make_uniform(b_.CreatePtrToInt(s_.window, b_.getInt64Ty()), uniform_shape(64));
  else if (s == Space::Local)
    start = to_generic(Space::Local, v_.imm(64, 0));
  else if (s == Space::Param)
    start = parameters();
  else
    return v_.bin(Bin::Add, a, v_.imm(64, 0));
  return v_.bin(Bin::Sub, a, start);
}

// Windows are known ranges; whatever is in none of them is global.
V Memory::in_space(Space s, V a) {
  a = v_.canon(a);
  auto inside = [&](Value* start, u64 bytes) {
    V d = v_.bin(Bin::Sub, a, v_.make_uniform(start, uniform_shape(64)));
    return v_.icmp(ICmp::ULt, d, v_.imm(64, bytes));
  };
  auto shared_start = [&](bool own) {
    Value* w = b_.CreatePtrToInt(s_.window, b_.getInt64Ty());
    if (!own) return w;
    return b_.CreateAdd(w, b_.CreateZExt(s_.load_at(s_.ctx0, offsetof(WarpCtx, shared_base), b_.getInt32Ty(), "shared"),
                                         b_.getInt64Ty()));
  };
  auto local = [&] {
    Value* start = b_.CreatePtrToInt(s_.load_at(s_.frame->ctx(), offsetof(WarpCtx, local), b_.getPtrTy(), "local"),
                                     b_.getInt64Ty());
    start = b_.CreateSub(start, b_.getInt64(device::kLocalBefore));
    Value* stride = s_.load_at(s_.ctx0, offsetof(WarpCtx, local_stride), b_.getInt64Ty(), "stride");
    V d = v_.bin(Bin::Sub, a, v_.make_uniform(start, uniform_shape(64)));
    V size = v_.make_uniform(b_.CreateMul(stride, b_.getInt64(kWarpSize)), uniform_shape(64));
    return v_.icmp(ICmp::ULt, d, size);
  };
  switch (s) {
    case Space::Shared:
      return inside(shared_start(true), device::kCtaSharedStride);
    case Space::SharedCluster:
      return inside(shared_start(false), 16 * device::kCtaSharedStride);
    case Space::Local:
      return local();
    case Space::Param:
      return v_.icmp(ICmp::ULt, v_.bin(Bin::Sub, a, parameters()), v_.imm(64, device::kParamBytes));
    case Space::Const: {
      Value* start = b_.CreatePtrToInt(s_.load_at(s_.grid, offsetof(GridCtx, const_bank), b_.getPtrTy(), "const"),
                                       b_.getInt64Ty());
      return inside(start, 65536);
    }
    default: {
      Value* bank = b_.CreatePtrToInt(s_.load_at(s_.grid, offsetof(GridCtx, const_bank), b_.getPtrTy(), "const"),
                                      b_.getInt64Ty());
      V other = v_.bin(Bin::Or, inside(shared_start(false), 16 * device::kCtaSharedStride), local());
      other = v_.bin(Bin::Or, other, inside(bank, 65536));
      return v_.un(Un::Not, other);
    }
  }
}

}  // namespace us::codegen
