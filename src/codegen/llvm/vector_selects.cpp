// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/vector_selects.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "base/types.h"

namespace us::codegen {
namespace {

constexpr u32 kMany = 8;  // choices of a block

std::vector<llvm::SelectInst*> choices_of(llvm::BasicBlock& block) {
  std::vector<llvm::SelectInst*> all;
  for (llvm::Instruction& i : block) {
    auto* s = llvm::dyn_cast<llvm::SelectInst>(&i);
    auto* type = s ? llvm::dyn_cast<llvm::FixedVectorType>(s->getType()) : nullptr;
    if (!type || s->getCondition()->getType()->isVectorTy() || type->getElementType()->isIntegerTy(1)) continue;
    if (!llvm::isa<llvm::Constant>(s->getCondition())) all.push_back(s);
  }
  return all;
}

void spread(const std::vector<llvm::SelectInst*>& choices) {
  llvm::DenseMap<std::pair<llvm::Value*, u32>, llvm::Value*> spread;
  for (llvm::SelectInst* s : choices) {
    const u32 lanes = llvm::cast<llvm::FixedVectorType>(s->getType())->getNumElements();
    llvm::Value*& condition = spread[{s->getCondition(), lanes}];
    if (!condition) condition = llvm::IRBuilder<>(s).CreateVectorSplat(lanes, s->getCondition());
    s->setCondition(condition);
  }
}

}  // namespace

void spread_conditions(llvm::Module& module) {
  for (llvm::Function& f : module)
    for (llvm::BasicBlock& block : f)
      if (const auto choices = choices_of(block); choices.size() > kMany) spread(choices);
}

}  // namespace us::codegen
