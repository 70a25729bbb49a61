// SPDX-License-Identifier: Apache-2.0
// Warp-level values: masks, special registers, shuffles, runtime calls.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/emitter.h"

namespace us::codegen {

using device::CtaCtx;
using device::GridCtx;
using device::RtFn;
using device::WarpCtx;

llvm::Value* Emitter::load_at(Value* ptr, std::size_t offset, llvm::Type* type, const char* name, bool invariant) {
  auto* load = b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ptr, offset), name);
  if (invariant) {
    auto* none = llvm::MDNode::get(c_, {});
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, none);
  }
  return load;
}

void Emitter::set_mask(Value* m, bool full) {
  mask_ = m;
  mask_full_ = full;
  mask_vec_ = nullptr;
}
llvm::Value* Emitter::mask() { return mask_full_ ? b_.getInt32(kFullMask) : mask_; }
llvm::Value* Emitter::mask_vec() {
  auto* t = llvm::FixedVectorType::get(b_.getInt1Ty(), kWarpSize);
  if (mask_full_) return llvm::Constant::getAllOnesValue(t);
  if (!mask_vec_ || mask_vec_block_ != b_.GetInsertBlock()) {
    mask_vec_ = b_.CreateBitCast(mask_, t);
    mask_vec_block_ = b_.GetInsertBlock();
  }
  return mask_vec_;
}

V Emitter::lane_id() { return make_uniform(nullptr, shape_sreg(isa::SReg::laneid, 0, m_.facts)); }
V Emitter::active_mask() {
  return a_.its ? make_varying(b_.CreateVectorSplat(kWarpSize, mask()), 32) : make_uniform(mask(), uniform_shape(32));
}
V Emitter::ballot(V pred) {
  Value* bits = b_.CreateAnd(b_.CreateBitCast(vec(pred), b_.getInt32Ty()), mask());
  return a_.its ? make_varying(b_.CreateVectorSplat(kWarpSize, bits), 32) : make_uniform(bits, uniform_shape(32));
}

V Emitter::shuffle(V vs, V vl) {
  LV s = at(vs), l = at(vl);
  const u32 bits = s.shape.bits;
  if (s.shape.uniform() && (s.shape.known || !a_.its)) return vs;
  Shape shape = l.shape.uniform() && !a_.its ? uniform_shape(bits) : varying_shape(bits);
  shape.nan = s.shape.nan;
  if (l.shape.constant()) {
    std::vector<int> idx;
    for (u32 i = 0; i < kWarpSize; ++i) idx.push_back(static_cast<int>(l.shape.lane_constant(i) & 31));
    Value* v = vec(s);
    if (l.shape.uniform() && !a_.its) return make_uniform(b_.CreateExtractElement(v, static_cast<u64>(idx[0])), shape);
    return make_vec(b_.CreateShuffleVector(v, idx), shape);
  }
  if (l.shape.uniform()) {
    Value* v = b_.CreateExtractElement(vec(s), b_.CreateAnd(l.base, 31));
    return a_.its ? make_vec(b_.CreateVectorSplat(kWarpSize, v), shape) : make_uniform(v, shape);
  }
  Value* idx = b_.CreateAnd(vec(vl), llvm::ConstantInt::get(vec(vl)->getType(), 31));
  if (m_.avx512 && bits == 32) {  // two 16-lane registers are one 32-entry table
    std::vector<int> low, high;
    for (int i = 0; i < 16; ++i) {
      low.push_back(i);
      high.push_back(i + 16);
    }
    Value* v = vec(s);
    Value *t0 = b_.CreateShuffleVector(v, low), *t1 = b_.CreateShuffleVector(v, high);
    if (idx->getType() != vec_type(32)) idx = b_.CreateZExtOrTrunc(idx, vec_type(32));
    auto half = [&](std::vector<int>& which) {
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                {t0, b_.CreateShuffleVector(idx, which), t1});
    };
    std::vector<int> both;
    for (int i = 0; i < 32; ++i) both.push_back(i);
    return make_vec(b_.CreateShuffleVector(half(low), half(high), both), shape);
  }
  // Through memory: store the lanes, gather by index.
  Value* slot = scratch(vec_type(bits), "shfl");
  b_.CreateStore(vec(s), slot);
  Value* out = llvm::PoisonValue::get(vec_type(bits));
  for (u32 i = 0; i < kWarpSize; ++i) {
    Value* p = b_.CreateGEP(int_type(bits), slot, b_.CreateZExt(b_.CreateExtractElement(idx, i), b_.getInt64Ty()));
    out = b_.CreateInsertElement(out, b_.CreateLoad(int_type(bits), p), i);
  }
  return make_vec(out, shape);
}

// tid for a block shape that is not known, or whose warps differ: divide the linear thread index.
V Emitter::vector_tid(u32 comp) {
  Value* warp = warp_index();
  Shape s = uniform_shape(32);
  V first = make_uniform(b_.CreateShl(warp, 5), s);
  V linear = bin(Bin::Add, first, lane_id());
  auto dim = [&](u32 k) -> V {
    const u32 dims[3] = {m_.facts.block.x, m_.facts.block.y, m_.facts.block.z};
    if (dims[0]) return imm(32, dims[k]);
    return make_uniform(load_at(grid_, offsetof(GridCtx, block) + 4 * k, b_.getInt32Ty(), "ntid"), uniform_shape(32));
  };
  if (comp == 0) return bin(Bin::URem, linear, dim(0));
  V row = bin(Bin::UDiv, linear, dim(0));
  return bin(comp == 1 ? Bin::URem : Bin::UDiv, row, dim(1));
}

V Emitter::sreg(isa::SReg r, u32 comp) {
  using isa::SReg;
  const Shape shape = shape_sreg(r, comp, m_.facts);
  if (shape.constant()) return make_uniform(nullptr, shape);
  const u32 bits = shape.bits;
  auto uniform = [&](Value* v) { return make_uniform(v, shape); };
  auto cta = [&](std::size_t off) { return load_at(cta_, off, b_.getInt32Ty(), "sreg"); };
  auto grid = [&](std::size_t off) { return load_at(grid_, off, b_.getInt32Ty(), "sreg"); };
  auto zero = [&] { return imm(bits, 0); };
  auto cluster_dim = [&](u32 k) { return grid(offsetof(GridCtx, cluster) + 4 * k); };
  switch (r) {
    case SReg::tid: {
      if (shape.varying()) return vector_tid(comp);
      // Pattern: the base is tid of the warp's first lane.
      const u32 bx = m_.facts.block.x, by = m_.facts.block.y;
      Value* first = b_.CreateShl(warp_index(), 5);
      Value* v = comp == 0   ? b_.CreateURem(first, b_.getInt32(bx))
                 : comp == 1 ? b_.CreateURem(b_.CreateUDiv(first, b_.getInt32(bx)), b_.getInt32(by))
                             : b_.CreateUDiv(first, b_.getInt32(bx * by));
      LV lv;
      lv.shape = shape;
      lv.base = v;
      return make(lv);
    }
    case SReg::ntid:
      return comp > 2 ? zero() : uniform(grid(offsetof(GridCtx, block) + 4 * comp));
    case SReg::ctaid:
      return comp > 2 ? zero() : uniform(cta(offsetof(CtaCtx, ctaid) + 4 * comp));
    case SReg::nctaid:
      return comp > 2 ? zero() : uniform(grid(offsetof(GridCtx, grid) + 4 * comp));
    case SReg::warpid:
      return uniform(warp_index());
    case SReg::nwarpid:
      return uniform(b_.getInt32(64));
    case SReg::smid:
      return uniform(cta(offsetof(CtaCtx, smid)));
    case SReg::nsmid:
      return uniform(grid(offsetof(GridCtx, nsmid)));
    case SReg::gridid:
      return uniform(
          b_.CreateZExtOrTrunc(load_at(grid_, offsetof(GridCtx, grid_id), b_.getInt64Ty(), "gridid"), int_type(bits)));
    case SReg::current_graph_exec:
      return uniform(load_at(grid_, offsetof(GridCtx, graph_exec), b_.getInt64Ty(), "exec"));
    case SReg::cluster_ctaid:
      return comp > 2 ? zero() : uniform(cta(offsetof(CtaCtx, cluster_ctaid) + 4 * comp));
    case SReg::cluster_nctaid:
      return comp > 2 ? zero() : uniform(cluster_dim(comp));
    case SReg::cluster_ctarank:
      return uniform(cta(offsetof(CtaCtx, cluster_rank)));
    case SReg::cluster_nctarank:
      return uniform(b_.CreateMul(b_.CreateMul(cluster_dim(0), cluster_dim(1)), cluster_dim(2)));
    case SReg::clusterid:
      return comp > 2 ? zero() : uniform(b_.CreateUDiv(cta(offsetof(CtaCtx, ctaid) + 4 * comp), cluster_dim(comp)));
    case SReg::nclusterid:
      return comp > 2 ? zero() : uniform(b_.CreateUDiv(grid(offsetof(GridCtx, grid) + 4 * comp), cluster_dim(comp)));
    case SReg::dynamic_smem_size:
      return uniform(grid(offsetof(GridCtx, shared_dynamic)));
    case SReg::total_smem_size:
      return uniform(b_.CreateAdd(grid(offsetof(GridCtx, shared_static)), grid(offsetof(GridCtx, shared_dynamic))));
    case SReg::aggr_smem_size:
      return uniform(
          b_.CreateAdd(b_.getInt32(device::kReservedShared),
                       b_.CreateAdd(grid(offsetof(GridCtx, shared_static)), grid(offsetof(GridCtx, shared_dynamic)))));
    default:
      break;
  }
  const std::string_view name = isa::info(r).name;
  if (name.starts_with("envreg")) {
    const u32 n = static_cast<u32>(std::atoi(std::string(name.substr(6)).c_str()));
    return n < 4 ? uniform(grid(offsetof(GridCtx, envreg) + 4 * n)) : zero();
  }
  if (name.starts_with("clock") || name.starts_with("globaltimer")) {
    V v;
    call_rt(name.starts_with("clock") ? RtFn::Clock : RtFn::GlobalTimer, {}, {64}, &v, true);
    if (name.ends_with("_hi")) v = bin(Bin::LShr, v, imm(64, 32));
    return resize(v, bits, false);
  }
  if (name.starts_with("reserved_smem_offset_cap") || name == "reserved_smem_offset_end")
    return imm(bits, device::kReservedShared);
  if (name.starts_with("reserved_smem_offset")) return imm(bits, 0);
  if (name == "is_explicit_cluster")
    return uniform(b_.CreateZExtOrTrunc(
        b_.CreateICmpUGT(b_.CreateMul(b_.CreateMul(cluster_dim(0), cluster_dim(1)), cluster_dim(2)), b_.getInt32(1)),
        int_type(bits)));
  unimplemented("%" + std::string(name), inst_ ? inst_->loc : SrcLoc{});
  return zero();
}

// cp.async delivered at issue: a load and a store, when the whole copy is a plain one.
void Emitter::copy_async(std::span<const V> args) {
  const u32 bytes = static_cast<u32>(at(args[2]).shape.value);
  MemRef from, to;
  from.space = isa::Space::Global;
  from.addr = args[1];
  to.space = isa::Space::Shared;
  to.addr = resize(args[0], 32, false);
  from.bits = to.bits = bytes >= 8 ? 64 : bytes * 8;
  from.count = to.count = bytes == 16 ? 2 : 1;
  from.align = to.align = bytes;
  auto where = [&](MemRef& m, u32 k) {
    const ir::Operand& o = inst_->ops[k];
    if (o.kind == ir::Operand::Kind::Address) m.base = o.value, m.base_offset = o.imm;
  };
  where(to, 0), where(from, 1);
  std::vector<V> data(from.count);
  load(from, data);
  store(to, data);
}

void Emitter::call_runtime(RtFn fn, std::span<const V> args, std::span<const u32> bits, V* results,
                           bool uniform_if_args) {
  if (fn != RtFn::CpAsync) flush_stores();
  std::vector<V> in;
  for (V v : args) in.push_back(v ? resize(canon(v), 64, false) : imm(64, 0));
  auto known = [&](std::size_t k) { return at(in[k]).shape.constant() && at(in[k]).shape.uniform(); };
  if (fn == RtFn::CpAsync) {
    let_others_read(isa::Space::Shared);
    if (!m_.facts.deferred_copies && known(2) && known(3) && at(in[2]).shape.value == at(in[3]).shape.value)
      return copy_async(in);
    flush_stores();
  }
  if (a_.its && fn == RtFn::BarSync) return its_barrier(in, 0, nullptr);
  if (a_.its && fn == RtFn::BarRed) return its_barrier(in, *bits.begin(), results);
  if (a_.its && fn == RtFn::ClusterWait) return its_cluster_wait();
  if (a_.its && fn == RtFn::Nanosleep) return its_nanosleep(in[0]);
  if (a_.its && fn == RtFn::MbarTestWait)
    return call_rt_now(fn, {in[0], in[1], bin(Bin::Or, in[2], imm(64, 4)), in[3]}, {bits.begin(), bits.end()},
                       results);  // park only with all lanes
  call_rt_now(fn, {args.begin(), args.end()}, {bits.begin(), bits.end()}, results, uniform_if_args);
}

// One call for the lanes of the mask.
void Emitter::call_rt_now(RtFn fn, const std::vector<V>& args, const std::vector<u32>& bits, V* results,
                          bool uniform_if_args) {
  US_CHECK(device::takes(fn, args.size()) && device::gives(fn, bits.size()));
  std::vector<V> in;
  bool uniform = true, constant = true;
  for (V v : args) {
    V w = v ? resize(canon(v), 64, false) : imm(64, 0);
    uniform = uniform && at(w).shape.uniform();
    constant = constant && at(w).shape.constant();
    in.push_back(w);
  }
  auto* lanes = llvm::ArrayType::get(vec_type(64), std::max<std::size_t>(in.size(), 1));
  Value* arg_ptr = llvm::ConstantPointerNull::get(b_.getPtrTy());
  if (constant && !in.empty()) {  // arguments in read-only memory
    std::vector<llvm::Constant*> rows;
    for (V v : in) rows.push_back(llvm::cast<llvm::Constant>(vec(v)));
    auto* init = llvm::ConstantArray::get(lanes, rows);
    auto* g = new llvm::GlobalVariable(*m_.module, lanes, true, llvm::GlobalValue::PrivateLinkage, init, "rtargs");
    g->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    arg_ptr = g;
  } else if (!in.empty()) {
    if (!rt_args_) rt_args_ = new_alloca(llvm::ArrayType::get(vec_type(64), kMaxRtArgs), "rtargs");
    for (std::size_t k = 0; k < in.size(); ++k)
      b_.CreateAlignedStore(vec(in[k]), b_.CreateConstInBoundsGEP1_64(vec_type(64), rt_args_, k), llvm::Align(64));
    arg_ptr = rt_args_;
  }
  Value* res_ptr = llvm::ConstantPointerNull::get(b_.getPtrTy());
  if (bits.size()) {
    if (!rt_results_) rt_results_ = new_alloca(llvm::ArrayType::get(vec_type(64), kMaxRtResults), "rtres");
    res_ptr = rt_results_;
  }
  Value* table = load_at(ctx0_, offsetof(WarpCtx, rt), b_.getPtrTy(), "rt");
  Value* callee = load_at(table, static_cast<std::size_t>(fn) * 8, b_.getPtrTy(), "rtfn");
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt32Ty(), b_.getPtrTy(), b_.getPtrTy()}, false);
  b_.CreateCall(type, callee, {ctx(), mask(), arg_ptr, res_ptr});
  u32 k = 0;
  const bool one = uniform_if_args && uniform && !a_.its;
  for (u32 width_bits : bits) {
    Value* row = b_.CreateConstInBoundsGEP1_64(vec_type(64), res_ptr, k);
    if (one) {  // any active lane will do: take the lowest
      Value* lane = mask_full_ ? static_cast<Value*>(b_.getInt32(0))
                               : b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask(), b_.getTrue());
      Value* p = b_.CreateGEP(b_.getInt64Ty(), row, b_.CreateZExt(lane, b_.getInt64Ty()));
      results[k] = make_uniform(b_.CreateTrunc(b_.CreateLoad(b_.getInt64Ty(), p), int_type(width_bits)),
                                uniform_shape(width_bits));
    } else {
      results[k] = make_varying(
          b_.CreateTrunc(b_.CreateAlignedLoad(vec_type(64), row, llvm::Align(64)), vec_type(width_bits)), width_bits);
    }
    ++k;
  }
}

}  // namespace us::codegen
