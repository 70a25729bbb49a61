// SPDX-License-Identifier: Apache-2.0
// mma on registers. f64 to nearest: chains of fused multiplications and additions; a result that is a NaN is computed
// again by the runtime function, which knows whose NaN it is. Dense products of other types: products.cpp, and the
// runtime function where numbers are out of its range. All else: the runtime function.
//
// Each kind that products.cpp knows has one function, and in a kernel with many of them every kind. Its arguments and
// results are vector registers: a thousand copies of the code take a minute to compile and do not fit the processor's
// caches.
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/matrix_products.h"
#include "codegen/llvm/products.h"
#include "device/abi/mma_code.h"

namespace us::codegen {
namespace {
constexpr u32 kPiece = 8, kPieces = kWarpSize / kPiece;  // lanes
constexpr u32 kMany = 32;                                // instructions

bool is_dense_product(isa::Form f) {
  using isa::Form;
  switch (f) {
    case Form::mma_rc:
    case Form::mma_rr:
    case Form::mma_cr:
    case Form::mma_cc:
    case Form::mma_popc:
    case Form::wmma_mma_rr:
    case Form::wmma_mma_rc:
    case Form::wmma_mma_cr:
    case Form::wmma_mma_cc:
    case Form::wmma_mma_popc:
      return true;
    default:
      return false;
  }
}
}  // namespace

bool Products::many() {
  if (count_ == ~0u) {
    count_ = 0;
    for (const ir::Block& b : f_.blocks)
      for (const ir::Inst& i : b.insts) count_ += is_dense_product(i.form);
  }
  return count_ >= kMany;
}

bool Products::multiply(const device::MmaCode& code, std::span<const V> args, V* d) {
  const bool chains = code.d == numerics::MmaType::F64 && code.rounding == 0;
  const bool outlined = has_vector_form(code) || many();
  if (!chains && !outlined) return false;
  std::vector<Value*> in, out;
  for (V v : args.subspan(1)) in.push_back(v_.vec(v_.canon(v)));
  if (outlined) {
    llvm::Function* f = product_function(code, in);
    in.insert(in.begin(), s_.ctx0);
    auto* call = b_.CreateCall(f, in);
    call->setCallingConv(f->getCallingConv());
    for (u32 e = 0; e < code.d_regs(); ++e) out.push_back(b_.CreateExtractValue(call, e));
  } else {
    stores_.flush();
    out = product_of_doubles(code, in, s_.frame->ctx(), s_.mask());
  }
  for (u32 e = 0; e < code.d_regs(); ++e) d[e] = v_.make_varying(out[e], code.d == numerics::MmaType::F64 ? 64 : 32);
  return true;
}

// {registers of d} f(ctx, registers of a, b, c)
llvm::Function* Products::product_function(const device::MmaCode& code, const std::vector<Value*>& in) {
  const u32 bits = code.d == numerics::MmaType::F64 ? 64 : 32;
  std::vector<llvm::Type*> types{b_.getPtrTy()};
  for (Value* v : in) types.push_back(v->getType());
  auto* result = llvm::StructType::get(c_, std::vector<llvm::Type*>(code.d_regs(), v_.vec_type(bits)));
  auto* type = llvm::FunctionType::get(result, types, false);
  llvm::Function*& f = m_.products[{code.pack(), type}];
  if (f) return f;
  f = llvm::Function::Create(type, llvm::Function::InternalLinkage, "product", *m_.module);
  set_attributes(f);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->addFnAttr(llvm::Attribute::WillReturn);
  f->setDoesNotAccessMemory();  // none that the kernel knows of
  // Sixteen registers of 256 bits would all be arguments, with none left to work with.
  f->setCallingConv(m_.avx512 ? llvm::CallingConv::X86_RegCall : llvm::CallingConv::C);
  llvm::IRBuilder<>::InsertPointGuard keep(b_);
  llvm::Function* const kernel = s_.out;
  s_.out = f;
  b_.SetInsertPoint(Block::Create(c_, "", f));
  b_.SetCurrentDebugLocation(nullptr);
  std::vector<Value*> own, out;
  for (std::size_t k = 1; k < types.size(); ++k) own.push_back(f->getArg(static_cast<unsigned>(k)));
  if (code.d == numerics::MmaType::F64 && code.rounding == 0)
    out = product_of_doubles(code, own, f->getArg(0), b_.getInt32(kFullMask));
  else if (has_vector_form(code))
    out = product_of_vectors(code, own, f->getArg(0), b_.getInt32(kFullMask));
  else
    out = product_by_runtime(code, own, f->getArg(0), b_.getInt32(kFullMask));
  Value* all = llvm::PoisonValue::get(result);
  for (u32 e = 0; e < out.size(); ++e) all = b_.CreateInsertValue(all, out[e], e);
  b_.CreateRet(all);
  s_.out = kernel;
  return f;
}

std::vector<llvm::Value*> Products::product_by_runtime(const device::MmaCode& code, const std::vector<Value*>& in,
                                                       Value* ctx, Value* mask) {
  const u32 n_d = code.d_regs(), bits = code.d == numerics::MmaType::F64 ? 64 : 32;
  auto* row = v_.vec_type(64);
  auto* places = s_.alloca_block->getParent() == s_.out ? s_.alloca_block : &s_.out->getEntryBlock();
  auto rows = [&](std::size_t n, const char* name) {
    llvm::IRBuilder<> b(places, places->begin());
    auto* a = b.CreateAlloca(llvm::ArrayType::get(row, n), nullptr, name);
    a->setAlignment(llvm::Align(64));
    return a;
  };
  auto place = [&](Value* of, std::size_t k) { return b_.CreateConstInBoundsGEP1_64(row, of, k); };
  Value *args = rows(in.size() + 1, "product.in"), *results = rows(n_d, "product.out");
  b_.CreateAlignedStore(b_.CreateVectorSplat(kWarpSize, b_.getInt64(code.pack())), place(args, 0), llvm::Align(64));
  for (std::size_t k = 0; k < in.size(); ++k)
    b_.CreateAlignedStore(b_.CreateZExt(in[k], row), place(args, k + 1), llvm::Align(64));
  Value* table = s_.load_at(ctx, offsetof(device::WarpCtx, rt), b_.getPtrTy(), "rt");
  Value* callee = s_.load_at(table, static_cast<std::size_t>(device::RtFn::Mma) * 8, b_.getPtrTy(), "rtfn");
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt32Ty(), b_.getPtrTy(), b_.getPtrTy()}, false);
  b_.CreateCall(type, callee, {ctx, mask, args, results});
  std::vector<Value*> out;
  for (u32 e = 0; e < n_d; ++e)
    out.push_back(b_.CreateTrunc(b_.CreateAlignedLoad(row, place(results, e), llvm::Align(64)), v_.vec_type(bits)));
  return out;
}

// Lane l has a(l/4 + 8 (r odd), 4 (r/2) + l%4), b(4 r + l%4, l/4), c(l/4 + 8 (e/2), 2 (l%4) + e%2). So in pieces of
// eight lanes, a is needed four times in each half, and b as four columns, twice.
std::vector<llvm::Value*> Products::product_of_doubles(const device::MmaCode& code, const std::vector<Value*>& args,
                                                       Value* ctx, Value* mask) {
  const u32 blocks = code.m / 8u, n_a = code.a_regs(), n_b = code.b_regs(), n_d = code.d_regs();
  auto* wide = llvm::FixedVectorType::get(b_.getDoubleTy(), kWarpSize);
  auto piece = [&](Value* v, u32 z) {
    std::vector<int> lanes(kPiece);
    for (u32 k = 0; k < kPiece; ++k) lanes[k] = static_cast<int>(z * kPiece + k);
    return b_.CreateShuffleVector(b_.CreateBitCast(v, wide), lanes);
  };
  const auto* a = args.data();
  const auto* b = a + n_a;
  const auto* c = b + n_b;
  std::vector<Value*> sums;  // by e, piece
  for (u32 e = 0; e < n_d; ++e)
    for (u32 z = 0; z < kPieces; ++z) sums.push_back(piece(c[e], z));
  for (u32 r = 0; r < n_b; ++r) {
    Value* whole_a[2];
    for (u32 block = 0; block < blocks; ++block) whole_a[block] = b_.CreateBitCast(a[r * blocks + block], wide);
    Value* in[kPieces];
    for (u32 z = 0; z < kPieces; ++z) in[z] = piece(b[r], z);
    // Piece z of b holds columns 2z and 2z + 1: element 4 o + k of it is b(k, 2z + o).
    Value* pairs[2][2];  // of pieces 0, 1 and 2, 3; even and odd elements
    for (u32 p = 0; p < 2; ++p)
      for (u32 odd = 0; odd < 2; ++odd) {
        std::vector<int> lanes;
        for (int k = 0; k < 4; ++k) lanes.push_back(2 * k + int(odd)), lanes.push_back(8 + 2 * k + int(odd));
        pairs[p][odd] = b_.CreateShuffleVector(in[2 * p], in[2 * p + 1], lanes);
      }
    for (u32 k = 0; k < 4; ++k) {
      Value* of_b[2];
      for (u32 o = 0; o < 2; ++o) {
        const int at = int(4 * o + k) / 2 * 2;
        const std::vector<int> lanes{at, at + 1, 8 + at, 9 + at, at, at + 1, 8 + at, 9 + at};
        of_b[o] = b_.CreateShuffleVector(pairs[0][k % 2], pairs[1][k % 2], lanes);
      }
      const int i = int(k);
      const std::vector<int> in_halves{i, i, i, i, 4 + i, 4 + i, 4 + i, 4 + i};
      for (u32 block = 0; block < blocks; ++block)
        for (u32 z = 0; z < kPieces; ++z) {
          std::vector<int> lanes = in_halves;
          for (int& l : lanes) l += static_cast<int>(z * kPiece);
          Value* of_a = b_.CreateShuffleVector(whole_a[block], lanes);
          for (u32 o = 0; o < 2; ++o) {
            Value*& sum = sums[(block * 2 + o) * kPieces + z];
            sum = b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {of_a, of_b[o], sum});
          }
        }
    }
  }
  Value* odd = nullptr;
  for (std::size_t k = 0; k < sums.size(); k += 2) {
    Value* some = b_.CreateFCmpUNO(sums[k], sums[k + 1]);
    odd = odd ? b_.CreateOr(odd, some) : some;
  }
  std::vector<Value*> d;
  for (u32 e = 0; e < n_d; ++e) {
    auto both = [&](Value* x, Value* y) {
      std::vector<int> lanes;
      for (u32 k = 0; k < 2 * llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements(); ++k)
        lanes.push_back(static_cast<int>(k));
      return b_.CreateShuffleVector(x, y, lanes);
    };
    Value** z = &sums[e * kPieces];
    d.push_back(b_.CreateBitCast(both(both(z[0], z[1]), both(z[2], z[3])), v_.vec_type(64)));
  }
  return or_by_runtime(code, args, ctx, mask, d, b_.CreateICmpNE(b_.CreateBitCast(odd, b_.getInt8Ty()), b_.getInt8(0)));
}

std::vector<llvm::Value*> Products::product_of_vectors(const device::MmaCode& code, const std::vector<Value*>& args,
                                                       Value* ctx, Value* mask) {
  TensorProduct p = tensor_product(b_, code, args, m_.avx512);
  return p.rare ? or_by_runtime(code, args, ctx, mask, p.d, p.rare) : p.d;
}

// d, but where `rare` (i1) what the runtime function says
std::vector<llvm::Value*> Products::or_by_runtime(const device::MmaCode& code, const std::vector<Value*>& args,
                                                  Value* ctx, Value* mask, const std::vector<Value*>& d, Value* rare) {
  Block *other = Block::Create(c_, "rare", s_.out), *join = Block::Create(c_, "", s_.out);
  Block* usual = b_.GetInsertBlock();
  b_.CreateCondBr(rare, other, join, llvm::MDBuilder(c_).createBranchWeights(1, 1000));

  b_.SetInsertPoint(other);
  const std::vector<Value*> from_other = product_by_runtime(code, args, ctx, mask);
  b_.CreateBr(join);

  b_.SetInsertPoint(join);
  std::vector<Value*> all;
  for (u32 e = 0; e < d.size(); ++e) {
    auto* r = b_.CreatePHI(d[e]->getType(), 2);
    r->addIncoming(d[e], usual);
    r->addIncoming(from_other[e], other);
    all.push_back(r);
  }
  return all;
}

}  // namespace us::codegen
