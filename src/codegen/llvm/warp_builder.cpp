// SPDX-License-Identifier: Apache-2.0
// Warp-level values: masks, special registers, shuffles, runtime calls.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/short_calls.h"
#include "codegen/llvm/warp_builder.h"

namespace us::codegen {

using device::CtaCtx;
using device::GridCtx;
using device::RtFn;
using device::WarpCtx;

FunctionParts::FunctionParts(FunctionState& s)
    : state(s),
      values(s),
      runtime(s, values),
      stores(s),
      slots(s, values),
      tests(s, values, runtime, stores, slots),
      params(s, values),
      memory(s, values, runtime, stores, tests, params),
      products(s, values, stores) {}

WarpBuilder::WarpBuilder(FunctionParts& p)
    : Part(p.state),
      parts_(p),
      v_(p.values),
      slots_(p.slots),
      runtime_(p.runtime),
      stores_(p.stores),
      memory_(p.memory) {}

V WarpBuilder::active_mask() {
  return s_.frame->lanes_apart() ? v_.make_varying(b_.CreateVectorSplat(kWarpSize, s_.mask()), 32)
                                 : v_.make_uniform(s_.mask(), uniform_shape(32));
}
V WarpBuilder::ballot(V pred) {
  Value* bits = b_.CreateAnd(b_.CreateBitCast(v_.vec(pred), b_.getInt32Ty()), s_.mask());
  return s_.frame->lanes_apart() ? v_.make_varying(b_.CreateVectorSplat(kWarpSize, bits), 32)
                                 : v_.make_uniform(bits, uniform_shape(32));
}

V WarpBuilder::shuffle(V vs, V vl) {
  LV s = v_.at(vs), l = v_.at(vl);
  const u32 bits = s.shape.bits;
  if (s.shape.uniform() && (s.shape.known || !s_.frame->lanes_apart())) return vs;
  Shape shape = l.shape.uniform() && !s_.frame->lanes_apart() ? uniform_shape(bits) : varying_shape(bits);
  shape.nan = s.shape.nan;
  if (l.shape.constant()) {
    std::vector<int> idx;
    for (u32 i = 0; i < kWarpSize; ++i) idx.push_back(static_cast<int>(l.shape.lane_constant(i) & 31));
    Value* v = v_.vec(s);
    if (l.shape.uniform() && !s_.frame->lanes_apart())
      return v_.make_uniform(b_.CreateExtractElement(v, static_cast<u64>(idx[0])), shape);
    return v_.make_vec(b_.CreateShuffleVector(v, idx), shape);
  }
  if (l.shape.uniform()) {
    Value* v = b_.CreateExtractElement(v_.vec(s), b_.CreateAnd(l.base, 31));
    return s_.frame->lanes_apart() ? v_.make_vec(b_.CreateVectorSplat(kWarpSize, v), shape) : v_.make_uniform(v, shape);
  }
  Value* idx = b_.CreateAnd(v_.vec(vl), llvm::ConstantInt::get(v_.vec(vl)->getType(), 31));
  if (m_.avx512 && bits == 32) {  // two 16-lane registers are one 32-entry table
    std::vector<int> low, high;
    for (int i = 0; i < 16; ++i) {
      low.push_back(i);
      high.push_back(i + 16);
    }
    Value* v = v_.vec(s);
    Value *t0 = b_.CreateShuffleVector(v, low), *t1 = b_.CreateShuffleVector(v, high);
    if (idx->getType() != v_.vec_type(32)) idx = b_.CreateZExtOrTrunc(idx, v_.vec_type(32));
    auto half = [&](std::vector<int>& which) {
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                {t0, b_.CreateShuffleVector(idx, which), t1});
    };
    std::vector<int> both;
    for (int i = 0; i < 32; ++i) both.push_back(i);
    return v_.make_vec(b_.CreateShuffleVector(half(low), half(high), both), shape);
  }
  // Through memory: store the lanes, gather by index.
  Value* slot = s_.frame->scratch(v_.vec_type(bits), "shfl");
  b_.CreateStore(v_.vec(s), slot);
  Value* out = llvm::PoisonValue::get(v_.vec_type(bits));
  for (u32 i = 0; i < kWarpSize; ++i) {
    Value* p = b_.CreateGEP(v_.int_type(bits), slot, b_.CreateZExt(b_.CreateExtractElement(idx, i), b_.getInt64Ty()));
    out = b_.CreateInsertElement(out, b_.CreateLoad(v_.int_type(bits), p), i);
  }
  return v_.make_vec(out, shape);
}

// tid for a block shape that is not known, or whose warps differ: divide the linear thread index.
V WarpBuilder::vector_tid(u32 comp) {
  Value* warp = s_.frame->warp_index();
  Shape s = uniform_shape(32);
  V first = v_.make_uniform(b_.CreateShl(warp, 5), s);
  V linear = v_.bin(Bin::Add, first, v_.lane_id());
  auto dim = [&](u32 k) -> V {
    const u32 dims[3] = {m_.facts.block.x, m_.facts.block.y, m_.facts.block.z};
    if (dims[0]) return v_.imm(32, dims[k]);
    return v_.make_uniform(s_.load_at(s_.grid, offsetof(GridCtx, block) + 4 * k, b_.getInt32Ty(), "ntid"),
                           uniform_shape(32));
  };
  if (comp == 0) return v_.bin(Bin::URem, linear, dim(0));
  V row = v_.bin(Bin::UDiv, linear, dim(0));
  return v_.bin(comp == 1 ? Bin::URem : Bin::UDiv, row, dim(1));
}

V WarpBuilder::thread_index(u32 k) {
  const Shape shape = shape_thread_index(k, m_.facts);
  if (shape.constant()) return v_.make_uniform(nullptr, shape);
  if (shape.varying()) return vector_tid(k);
  // Pattern: the base is the index of the warp's first lane.
  const u32 bx = m_.facts.block.x, by = m_.facts.block.y;
  Value* first = b_.CreateShl(s_.frame->warp_index(), 5);
  LV lv;
  lv.shape = shape;
  lv.base = k == 0   ? b_.CreateURem(first, b_.getInt32(bx))
            : k == 1 ? b_.CreateURem(b_.CreateUDiv(first, b_.getInt32(bx)), b_.getInt32(by))
                     : b_.CreateUDiv(first, b_.getInt32(bx * by));
  return v_.make(lv);
}

V WarpBuilder::context(device::ContextWord w, u32 k) {
  const Shape shape = shape_context(w, k, m_.facts);
  if (shape.constant()) return v_.make_uniform(nullptr, shape);
  const device::ContextPlace at = device::place_of(w, k);
  if (at.in == device::ContextPlace::In::Warp) return v_.make_uniform(s_.frame->warp_index(), shape);
  Value* from = at.in == device::ContextPlace::In::Grid ? s_.grid : s_.cta;
  return v_.make_uniform(s_.load_at(from, at.offset, v_.int_type(at.bits), "sreg"), shape);
}

// cp.async delivered at issue: a load and a store, when the whole copy is a plain one.
void WarpBuilder::copy_async(std::span<const V> args) {
  const u32 bytes = static_cast<u32>(v_.at(args[2]).shape.value);
  MemRef from, to;
  from.space = isa::Space::Global;
  from.addr = args[1];
  to.space = isa::Space::Shared;
  to.addr = v_.resize(args[0], 32, false);
  from.bits = to.bits = bytes >= 8 ? 64 : bytes * 8;
  from.count = to.count = bytes == 16 ? 2 : 1;
  from.align = to.align = bytes;
  auto where = [&](MemRef& m, u32 k) {
    const ir::Operand& o = s_.inst->ops[k];
    if (o.kind == ir::Operand::Kind::Address) m.base = o.value, m.base_offset = o.imm;
  };
  where(to, 0), where(from, 1);
  std::vector<V> data(from.count);
  memory_.load(from, data);
  memory_.store(to, data);
}

void WarpBuilder::call_runtime(RtFn fn, std::span<const V> args, std::span<const u32> bits, V* results,
                               bool uniform_if_args) {
  if (fn != RtFn::CpAsync) stores_.flush();
  std::vector<V> in;
  for (V v : args) in.push_back(v ? v_.resize(v_.canon(v), 64, false) : v_.imm(64, 0));
  auto known = [&](std::size_t k) { return v_.at(in[k]).shape.constant() && v_.at(in[k]).shape.uniform(); };
  if (fn == RtFn::CpAsync) {
    memory_.reads().let_others_read(isa::Space::Shared);
    if (!m_.facts.deferred_copies && !m_.facts.events() && known(2) && known(3) &&
        v_.at(in[2]).shape.value == v_.at(in[3]).shape.value)
      return copy_async(in);
    stores_.flush();
  }
  if (s_.frame->makes_call(fn, in, bits, results)) return;
  if (fn == RtFn::ProbeAccess) return call_shortly(s_, v_, fn, args);
  runtime_.call(fn, {args.begin(), args.end()}, {bits.begin(), bits.end()}, results, uniform_if_args);
}

void WarpBuilder::unimplemented(const std::string& what, const SrcLoc& loc) {
  Value* text = b_.CreateGlobalString(what, "what", 0, m_.module.get());
  V none;
  V where = v_.make_uniform(b_.CreatePtrToInt(text, b_.getInt64Ty()), uniform_shape(64));
  call_rt(RtFn::Unimplemented, {where, v_.imm(64, loc.line)}, {}, &none, false);
}

}  // namespace us::codegen
