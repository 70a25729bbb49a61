// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/lane_access.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <map>
#include <tuple>
#include <vector>

#include "codegen/llvm/module_emitter.h"

namespace us::codegen {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

struct Access {
  ID id;
  llvm::FixedVectorType* type;  // of the value
  llvm::Align align;

  bool loads() const { return id == llvm::Intrinsic::masked_gather || id == llvm::Intrinsic::masked_load; }
  bool pointer_for_each() const {
    return id == llvm::Intrinsic::masked_gather || id == llvm::Intrinsic::masked_scatter;
  }
  // Arguments of the intrinsics: (pointers, alignment, mask, otherwise) and (value, pointers, alignment, mask).
  unsigned pointers() const { return loads() ? 0 : 1; }
  unsigned mask() const { return pointers() + 2; }
  unsigned value() const { return loads() ? 3 : 0; }
};

bool is_native(const Access& a, const llvm::TargetTransformInfo& target) {
  switch (a.id) {
    case llvm::Intrinsic::masked_gather:
      return target.isLegalMaskedGather(a.type, a.align) && !target.forceScalarizeMaskedGather(a.type, a.align);
    case llvm::Intrinsic::masked_scatter:
      return target.isLegalMaskedScatter(a.type, a.align) && !target.forceScalarizeMaskedScatter(a.type, a.align);
    case llvm::Intrinsic::masked_load:
      return target.isLegalMaskedLoad(a.type, a.align);
    default:
      return target.isLegalMaskedStore(a.type, a.align);
  }
}

// {value} access(pointers, mask as a word, value)
class LaneAccess {
 public:
  LaneAccess(llvm::Module& module, const Access& a)
      : access_(a), b_(module.getContext()), lanes_(a.type->getNumElements()) {
    llvm::Type* pointers = b_.getPtrTy();
    if (a.pointer_for_each()) pointers = llvm::FixedVectorType::get(pointers, lanes_);
    auto* result = a.loads() ? static_cast<llvm::Type*>(a.type) : b_.getVoidTy();
    auto* type = llvm::FunctionType::get(result, {pointers, b_.getIntNTy(lanes_), a.type}, false);
    const char* name = a.loads() ? "load_lanes" : "store_lanes";
    f_ = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
    set_attributes(f_);
    f_->addFnAttr(llvm::Attribute::NoInline);
    if (a.loads())
      f_->setOnlyReadsMemory();
    else
      f_->setOnlyWritesMemory();
  }

  llvm::Function* emit() {
    auto* entry = block("entry");
    auto* all = block("all");
    auto* some = block("some");
    b_.SetInsertPoint(entry);
    Value* mask = f_->getArg(1);
    b_.CreateCondBr(b_.CreateICmpEQ(mask, llvm::Constant::getAllOnesValue(mask->getType())), all, some);
    b_.SetInsertPoint(all);
    emit_all();
    b_.SetInsertPoint(some);
    emit_some(entry);
    return f_;
  }

 private:
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, f_); }

  void emit_all() {
    Value* value = f_->getArg(2);
    if (!access_.pointer_for_each()) {
      if (access_.loads())
        b_.CreateRet(b_.CreateAlignedLoad(access_.type, f_->getArg(0), access_.align));
      else
        b_.CreateAlignedStore(value, f_->getArg(0), access_.align), b_.CreateRetVoid();
      return;
    }
    for (u32 k = 0; k < lanes_; ++k) {
      Value* p = b_.CreateExtractElement(f_->getArg(0), k);
      if (access_.loads())
        value = b_.CreateInsertElement(value, b_.CreateAlignedLoad(element(), p, access_.align), k);
      else
        b_.CreateAlignedStore(b_.CreateExtractElement(value, k), p, access_.align);
    }
    access_.loads() ? b_.CreateRet(value) : b_.CreateRetVoid();
  }

  // A loop over the lanes of the mask; pointers and values lie in memory, for a lane is known at run time only.
  void emit_some(llvm::BasicBlock* entry) {
    auto* some = b_.GetInsertBlock();
    b_.SetInsertPoint(entry, entry->begin());
    auto place = [&](llvm::Type* t) {
      auto* a = b_.CreateAlloca(t);
      a->setAlignment(llvm::Align(64));
      return a;
    };
    auto* pointers = access_.pointer_for_each() ? place(f_->getArg(0)->getType()) : nullptr;
    auto* values = place(access_.type);
    b_.SetInsertPoint(some);
    if (pointers) b_.CreateStore(f_->getArg(0), pointers);
    b_.CreateStore(f_->getArg(2), values);
    auto* loop = block("lane");
    auto* next = block("next");
    auto* done = block("done");
    Value* mask = f_->getArg(1);
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    auto* rest = b_.CreatePHI(mask->getType(), 2);
    rest->addIncoming(mask, some);
    b_.CreateCondBr(b_.CreateICmpEQ(rest, llvm::Constant::getNullValue(mask->getType())), done, next);
    b_.SetInsertPoint(next);
    Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, rest, b_.getTrue());
    Value* lane = b_.CreateZExtOrTrunc(first, b_.getInt64Ty());
    Value* value = b_.CreateInBoundsGEP(element(), values, lane);
    Value* p = pointers ? b_.CreateLoad(b_.getPtrTy(), b_.CreateInBoundsGEP(b_.getPtrTy(), pointers, lane))
                        : b_.CreateGEP(element(), f_->getArg(0), lane);
    const llvm::Align own(element()->getScalarSizeInBits() / 8);
    if (access_.loads())
      b_.CreateAlignedStore(b_.CreateAlignedLoad(element(), p, access_.align), value, own);
    else
      b_.CreateAlignedStore(b_.CreateAlignedLoad(element(), value, own), p, access_.align);
    rest->addIncoming(b_.CreateAnd(rest, b_.CreateSub(rest, llvm::ConstantInt::get(mask->getType(), 1))), next);
    b_.CreateBr(loop);
    b_.SetInsertPoint(done);
    access_.loads() ? b_.CreateRet(b_.CreateLoad(access_.type, values)) : b_.CreateRetVoid();
  }

  llvm::Type* element() { return access_.type->getElementType(); }

  const Access access_;
  llvm::IRBuilder<> b_;
  const u32 lanes_;
  llvm::Function* f_;
};

}  // namespace

void call_lane_accesses(llvm::Module& module, const llvm::TargetMachine& machine) {
  std::map<std::tuple<ID, llvm::Type*, u64>, llvm::Function*> functions;
  std::vector<std::pair<llvm::IntrinsicInst*, Access>> found;
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    const llvm::TargetTransformInfo target = machine.getTargetTransformInfo(f);
    for (llvm::BasicBlock& block : f)
      for (llvm::Instruction& i : block) {
        auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        if (!call) continue;
        Access a{call->getIntrinsicID(), nullptr, llvm::Align(1)};
        if (a.id != llvm::Intrinsic::masked_gather && a.id != llvm::Intrinsic::masked_scatter &&
            a.id != llvm::Intrinsic::masked_load && a.id != llvm::Intrinsic::masked_store)
          continue;
        a.type = llvm::cast<llvm::FixedVectorType>(call->getArgOperand(a.value())->getType());
        a.align = llvm::cast<llvm::ConstantInt>(call->getArgOperand(a.pointers() + 1))->getAlignValue();
        // A row under a mask that is known needs no test.
        if (!a.pointer_for_each() && llvm::isa<llvm::Constant>(call->getArgOperand(a.mask()))) continue;
        if (!is_native(a, target)) found.push_back({call, a});
      }
  }
  for (auto& [call, a] : found) {
    llvm::Function*& f = functions[{a.id, a.type, a.align.value()}];
    if (!f) f = LaneAccess(module, a).emit();
    llvm::IRBuilder<> b(call);
    Value* mask = b.CreateBitCast(call->getArgOperand(a.mask()), b.getIntNTy(a.type->getNumElements()));
    auto* access = b.CreateCall(f, {call->getArgOperand(a.pointers()), mask, call->getArgOperand(a.value())});
    access->copyMetadata(*call);
    access->setDebugLoc(call->getDebugLoc());
    call->replaceAllUsesWith(access);
    call->eraseFromParent();
  }
}

}  // namespace us::codegen
