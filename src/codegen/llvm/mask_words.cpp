// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/mask_words.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>

#include <map>
#include <vector>

namespace us::codegen {
namespace {

using Words = std::map<llvm::Value*, llvm::Type*>;  // what is turned into a vector of truth values

bool is_logic(const llvm::Value* v) {
  const auto* i = llvm::dyn_cast<llvm::BinaryOperator>(v);
  return i && i->isBitwiseLogicOp() && i->getType()->isIntegerTy();
}

Words words_of(llvm::BasicBlock& block) {
  Words words;
  for (llvm::Instruction& i : block)
    if (llvm::isa<llvm::BitCastInst>(i) && i.getType()->isVectorTy() && i.getType()->getScalarType()->isIntegerTy(1) &&
        i.getOperand(0)->getType()->isIntegerTy())
      words[i.getOperand(0)] = i.getType();
  return words;
}

// Whether a word, or another that is made of it in this block, is turned into a vector.
bool reaches_vector(const llvm::Instruction& i, const Words& words, int depth = 0) {
  if (words.contains(const_cast<llvm::Instruction*>(&i))) return true;
  if (depth == 6) return false;  // as far as LLVM looks
  for (const llvm::User* u : i.users())
    if (is_logic(u) && llvm::cast<llvm::Instruction>(u)->getParent() == i.getParent() &&
        reaches_vector(*llvm::cast<llvm::Instruction>(u), words, depth + 1))
      return true;
  return false;
}

void make_opaque(llvm::Instruction& i) {
  auto* type = llvm::FunctionType::get(i.getType(), {i.getType()}, false);
  auto* same = llvm::InlineAsm::get(type, "", "=r,0", false);
  auto* call = llvm::CallInst::Create(type, same, {&i}, "", std::next(i.getIterator()));
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  call->setDebugLoc(i.getDebugLoc());
  i.replaceUsesWithIf(call, [&](const llvm::Use& use) { return use.getUser() != call; });
}

}  // namespace

void separate_mask_words(llvm::Module& module) {
  for (llvm::Function& f : module)
    for (llvm::BasicBlock& block : f) {
      const Words words = words_of(block);
      if (words.size() < 2) continue;
      auto known = [&](llvm::Value* v) {
        const auto* c = llvm::dyn_cast<llvm::Constant>(v);
        return c ? !c->isAllOnesValue() : words.contains(v);
      };
      std::vector<llvm::Instruction*> found;
      for (llvm::Instruction& i : block)
        if (is_logic(&i) && known(i.getOperand(0)) && known(i.getOperand(1)) && reaches_vector(i, words))
          found.push_back(&i);
      for (llvm::Instruction* i : found) make_opaque(*i);
    }
}

}  // namespace us::codegen
