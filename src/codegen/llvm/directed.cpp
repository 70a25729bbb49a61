// SPDX-License-Identifier: Apache-2.0
// f64 operations with directed rounding where the processor has instructions that carry a rounding mode. Results are
// those of numerics/directed.cpp: a NaN operand comes back quiet, the one asked about first wins.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/directed.h"

namespace us::codegen {
namespace {

using device::NumFn;

constexpr u32 kPart = 8;                        // elements of a register
constexpr u32 kDown = 9, kUp = 10, kZero = 11;  // rounding mode of the instruction; no exceptions
constexpr u64 kInfinity = 0x7ff0000000000000, kQuiet = u64{1} << 51;

struct Row {
  NumFn fn;
  llvm::Intrinsic::ID instruction;
  u32 mode;
  u8 nans[3];  // operands in the order in which NaNs win
  u8 count;
};

const Row* find(NumFn fn) {
#define US_MODES(name, id, count, a, b, c)                                  \
  {NumFn::name##_f64_rm, llvm::Intrinsic::id, kDown, {a, b, c}, count},     \
      {NumFn::name##_f64_rp, llvm::Intrinsic::id, kUp, {a, b, c}, count}, { \
    NumFn::name##_f64_rz, llvm::Intrinsic::id, kZero, {a, b, c}, count      \
  }
  static constexpr Row rows[] = {
      US_MODES(add, x86_avx512_add_pd_512, 2, 1, 0, 0),   US_MODES(sub, x86_avx512_sub_pd_512, 2, 1, 0, 0),
      US_MODES(mul, x86_avx512_mul_pd_512, 2, 1, 0, 0),   US_MODES(div, x86_avx512_div_pd_512, 2, 0, 1, 0),
      US_MODES(sqrt, x86_avx512_sqrt_pd_512, 1, 0, 0, 0), US_MODES(fma, x86_avx512_vfmadd_pd_512, 3, 1, 2, 0),
  };
#undef US_MODES
  for (const Row& r : rows)
    if (r.fn == fn) return &r;
  return nullptr;
}

}  // namespace

llvm::Value* directed(llvm::IRBuilderBase& b, NumFn fn, llvm::ArrayRef<llvm::Value*> in) {
  const Row* row = find(fn);
  if (!row) return nullptr;
  llvm::Type* words = in[0]->getType();
  auto* doubles = llvm::VectorType::get(b.getDoubleTy(), llvm::cast<llvm::VectorType>(words));
  const u32 lanes = llvm::cast<llvm::FixedVectorType>(words)->getNumElements();
  llvm::Value* out = llvm::PoisonValue::get(doubles);
  for (u32 at = 0; at < lanes; at += kPart) {
    llvm::SmallVector<llvm::Value*> args;
    for (llvm::Value* v : in)
      args.push_back(b.CreateExtractVector(llvm::FixedVectorType::get(b.getDoubleTy(), kPart),
                                           b.CreateBitCast(v, doubles), b.getInt64(at)));
    args.push_back(b.getInt32(row->mode));
    out = b.CreateInsertVector(doubles, out, b.CreateIntrinsic(row->instruction, {}, args), b.getInt64(at));
  }
  out = b.CreateBitCast(out, words);
  for (u32 k = row->count; k-- > 0;) {
    llvm::Value* v = in[row->nans[k]];
    llvm::Value* nan = b.CreateICmpUGT(b.CreateShl(v, 1), llvm::ConstantInt::get(words, kInfinity << 1));
    out = b.CreateSelect(nan, b.CreateOr(v, llvm::ConstantInt::get(words, kQuiet)), out);
  }
  return out;
}

}  // namespace us::codegen
