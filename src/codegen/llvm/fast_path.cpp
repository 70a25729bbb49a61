// SPDX-License-Identifier: Apache-2.0
// Operations with a short way for ordinary arguments: the general way is a function of its own, called where a lane
// needs it.
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/warp_builder.h"

namespace us::codegen {

// void f(ptr to the 32 arguments, which become the results)
llvm::Function* WarpBuilder::general_function(Operation general) {
  llvm::Function*& f = m_.general[reinterpret_cast<const void*>(general)];
  if (f) return f;
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false);
  f = llvm::Function::Create(type, llvm::Function::InternalLinkage, "general", *m_.module);
  for (auto a : {llvm::Attribute::NoInline, llvm::Attribute::Cold, llvm::Attribute::NoUnwind}) f->addFnAttr(a);
  llvm::IRBuilder<>::InsertPointGuard keep(b_);
  b_.SetInsertPoint(Block::Create(c_, "", f));
  b_.SetCurrentDebugLocation(nullptr);
  V r = v_.canon(general(*this, v_.make_varying(b_.CreateLoad(v_.vec_type(32), f->getArg(0)), 32)));
  b_.CreateStore(v_.vec(r), f->getArg(0));
  b_.CreateRetVoid();
  return f;
}

V WarpBuilder::quick(V x, Operation ordinary, Operation short_way, Operation general) {
  if (v_.at(x).shape.uniform()) return general(*this, v_.canon(x));
  Value* bits = v_.vec(x);  // NaNs of any kind: they are not ordinary
  x = v_.make_varying(bits, 32);
  Value* odd = b_.CreateAnd(b_.CreateNot(b_.CreateBitCast(v_.vec(ordinary(*this, x)), b_.getInt32Ty())), s_.mask());
  Block *rare = Block::Create(c_, "rare", s_.out), *usual = Block::Create(c_, "usual", s_.out),
        *join = Block::Create(c_, "", s_.out);
  auto* weights = llvm::MDBuilder(c_).createBranchWeights(1, 1000);
  b_.CreateCondBr(b_.CreateICmpNE(odd, b_.getInt32(0)), rare, usual, weights);

  b_.SetInsertPoint(rare);
  Value* place = s_.frame->scratch(v_.vec_type(32), "argument");
  b_.CreateStore(bits, place);
  b_.CreateCall(general_function(general), {place});
  Value* from_general = b_.CreateLoad(v_.vec_type(32), place);
  b_.CreateBr(join);

  b_.SetInsertPoint(usual);
  Value* from_usual = v_.vec(v_.canon(short_way(*this, x)));
  Block* usual_end = b_.GetInsertBlock();
  b_.CreateBr(join);

  b_.SetInsertPoint(join);
  auto* r = b_.CreatePHI(v_.vec_type(32), 2);
  r->addIncoming(from_general, rare);
  r->addIncoming(from_usual, usual_end);
  return v_.make_varying(r, 32);
}

}  // namespace us::codegen
