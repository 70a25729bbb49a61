// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/fences.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <vector>

namespace us::codegen {
namespace {

const llvm::Value* through_casts(const llvm::Value* v) {
  while (const auto* c = llvm::dyn_cast<llvm::BitCastInst>(v)) v = c->getOperand(0);
  return v;
}
bool is_logic(const llvm::Value* v) {
  const auto* o = llvm::dyn_cast<llvm::BinaryOperator>(through_casts(v));
  return o && (o->getOpcode() == llvm::Instruction::And || o->getOpcode() == llvm::Instruction::Or ||
               o->getOpcode() == llvm::Instruction::Xor);
}
// An operation on bits with three operands.
bool may_be_ternary(const llvm::Value* v) {
  v = through_casts(v);
  if (is_logic(v)) {
    const auto* o = llvm::cast<llvm::BinaryOperator>(v);
    return is_logic(o->getOperand(0)) || is_logic(o->getOperand(1));
  }
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
  return call && (call->getIntrinsicID() == llvm::Intrinsic::copysign ||
                  call->getIntrinsicID() == llvm::Intrinsic::x86_avx512_pternlog_d_512 ||
                  call->getIntrinsicID() == llvm::Intrinsic::x86_avx512_pternlog_q_512);
}

llvm::Value* fenced(llvm::IRBuilder<>& b, llvm::Value* v) {
  auto* type = llvm::cast<llvm::FixedVectorType>(v->getType());
  llvm::Type* element = type->getScalarSizeInBits() == 32 ? b.getFloatTy() : b.getDoubleTy();
  llvm::Value* x = b.CreateBitCast(v, llvm::FixedVectorType::get(element, type->getNumElements()));
  return b.CreateBitCast(b.CreateArithmeticFence(x, x->getType()), type);
}

}  // namespace

void fence_blends(llvm::Module& m) {
  std::vector<llvm::SelectInst*> blends;
  for (llvm::Function& f : m)
    for (llvm::BasicBlock& block : f)
      for (llvm::Instruction& i : block) {
        auto* s = llvm::dyn_cast<llvm::SelectInst>(&i);
        if (!s || !s->getCondition()->getType()->isVectorTy() || s->getType()->getScalarType()->isPointerTy()) continue;
        if (s->getType()->getScalarSizeInBits() == 32 || s->getType()->getScalarSizeInBits() == 64) blends.push_back(s);
      }
  for (llvm::SelectInst* s : blends)
    for (unsigned k : {1u, 2u})
      if (may_be_ternary(s->getOperand(k))) {
        llvm::IRBuilder<> b(s);
        s->setOperand(k, fenced(b, s->getOperand(k)));
      }
}

}  // namespace us::codegen
