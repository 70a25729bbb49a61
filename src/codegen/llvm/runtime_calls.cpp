// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/runtime_calls.h"

namespace us::codegen {

using device::RtFn;
using device::WarpCtx;

llvm::Value* RuntimeCalls::argument_rows() {
  if (!args_) args_ = s_.new_alloca(llvm::ArrayType::get(v_.vec_type(64), kMaxRtArgs), "rtargs");
  return args_;
}

// Ends the block: the call does not return.
void RuntimeCalls::end_launch(device::RtFn fn, Value* lanes, Value* args) {
  Value* rt = s_.load_at(s_.ctx0, offsetof(device::WarpCtx, rt), b_.getPtrTy(), "rt");
  Value* callee = s_.load_at(rt, static_cast<std::size_t>(fn) * 8, b_.getPtrTy(), "rtfn");
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt32Ty(), b_.getPtrTy(), b_.getPtrTy()}, false);
  auto* call =
      b_.CreateCall(type, callee, {s_.frame->ctx(), lanes, args, llvm::ConstantPointerNull::get(b_.getPtrTy())});
  call->setDoesNotReturn();
  call->addFnAttr(llvm::Attribute::Cold);
  b_.CreateUnreachable();
}

// One call for the lanes of the mask.
void RuntimeCalls::call(RtFn fn, const std::vector<V>& args, const std::vector<u32>& bits, V* results,
                        bool uniform_if_args) {
  US_CHECK(device::takes(fn, args.size()) && device::gives(fn, bits.size()));
  std::vector<V> in;
  bool uniform = true, constant = true;
  for (V v : args) {
    V w = v ? v_.resize(v_.canon(v), 64, false) : v_.imm(64, 0);
    uniform = uniform && v_.at(w).shape.uniform();
    constant = constant && v_.at(w).shape.constant();
    in.push_back(w);
  }
  auto* lanes = llvm::ArrayType::get(v_.vec_type(64), std::max<std::size_t>(in.size(), 1));
  Value* arg_ptr = llvm::ConstantPointerNull::get(b_.getPtrTy());
  if (constant && !in.empty()) {  // arguments in read-only memory
    std::vector<llvm::Constant*> rows;
    for (V v : in) rows.push_back(llvm::cast<llvm::Constant>(v_.vec(v)));
    auto* init = llvm::ConstantArray::get(lanes, rows);
    auto* g = new llvm::GlobalVariable(*m_.module, lanes, true, llvm::GlobalValue::PrivateLinkage, init, "rtargs");
    g->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    arg_ptr = g;
  } else if (!in.empty()) {
    Value* rows = argument_rows();
    for (std::size_t k = 0; k < in.size(); ++k)
      b_.CreateAlignedStore(v_.vec(in[k]), b_.CreateConstInBoundsGEP1_64(v_.vec_type(64), rows, k), llvm::Align(64));
    arg_ptr = rows;
  }
  Value* res_ptr = llvm::ConstantPointerNull::get(b_.getPtrTy());
  if (bits.size()) {
    if (!results_) results_ = s_.new_alloca(llvm::ArrayType::get(v_.vec_type(64), kMaxRtResults), "rtres");
    res_ptr = results_;
  }
  Value* table = s_.load_at(s_.ctx0, offsetof(WarpCtx, rt), b_.getPtrTy(), "rt");
  Value* callee = s_.load_at(table, static_cast<std::size_t>(fn) * 8, b_.getPtrTy(), "rtfn");
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt32Ty(), b_.getPtrTy(), b_.getPtrTy()}, false);
  b_.CreateCall(type, callee, {s_.frame->ctx(), s_.mask(), arg_ptr, res_ptr});
  u32 k = 0;
  const bool one = uniform_if_args && uniform && !s_.frame->lanes_apart();
  for (u32 width_bits : bits) {
    Value* row = b_.CreateConstInBoundsGEP1_64(v_.vec_type(64), res_ptr, k);
    if (one) {  // any active lane will do: take the lowest
      Value* lane = s_.mask_full() ? static_cast<Value*>(b_.getInt32(0))
                                   : b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, s_.mask(), b_.getTrue());
      Value* p = b_.CreateGEP(b_.getInt64Ty(), row, b_.CreateZExt(lane, b_.getInt64Ty()));
      results[k] = v_.make_uniform(b_.CreateTrunc(b_.CreateLoad(b_.getInt64Ty(), p), v_.int_type(width_bits)),
                                   uniform_shape(width_bits));
    } else {
      results[k] = v_.make_varying(
          b_.CreateTrunc(b_.CreateAlignedLoad(v_.vec_type(64), row, llvm::Align(64)), v_.vec_type(width_bits)),
          width_bits);
    }
    ++k;
  }
}

}  // namespace us::codegen
