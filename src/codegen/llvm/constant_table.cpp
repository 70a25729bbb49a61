// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/constant_table.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <vector>

#include "base/types.h"

namespace us::codegen {
namespace {

constexpr std::size_t kMany = 2000;  // constants

// The number that all elements have, if an instruction has to read it from memory.
llvm::ConstantInt* equal_elements(const llvm::Use& use) {
  auto* c = llvm::dyn_cast<llvm::Constant>(use.get());
  auto* type = c ? llvm::dyn_cast<llvm::FixedVectorType>(c->getType()) : nullptr;
  if (!type || c->isNullValue() || c->isAllOnesValue()) return nullptr;
  auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(c->getSplatValue());
  return number && (number->getBitWidth() == 32 || number->getBitWidth() == 64) ? number : nullptr;
}

bool takes_values(const llvm::Instruction& i) {
  return llvm::isa<llvm::BinaryOperator, llvm::CmpInst, llvm::SelectInst, llvm::StoreInst, llvm::CastInst>(i);
}

using Numbers = llvm::MapVector<llvm::ConstantInt*, std::vector<llvm::Use*>>;

Numbers numbers_of(llvm::Function& f) {
  Numbers all;
  for (llvm::BasicBlock& b : f)
    for (llvm::Instruction& i : b)
      if (takes_values(i))
        for (llvm::Use& use : i.operands())
          if (auto* number = equal_elements(use)) all[number].push_back(&use);
  return all;
}

void move_to_table(llvm::Function& f, const Numbers& numbers) {
  auto* word = llvm::Type::getInt64Ty(f.getContext());
  std::vector<u64> table;
  for (const auto& [number, uses] : numbers) table.push_back(number->getZExtValue());
  auto* init = llvm::ConstantDataArray::get(f.getContext(), table);
  auto* g = new llvm::GlobalVariable(*f.getParent(), init->getType(), true, llvm::GlobalValue::PrivateLinkage, init,
                                     "constants");
  g->setAlignment(llvm::Align(8));
  u64 k = 0;
  for (const auto& [number, uses] : numbers) {
    for (llvm::Use* use : uses) {
      llvm::IRBuilder<> b(llvm::cast<llvm::Instruction>(use->getUser()));
      llvm::Value* element = b.CreateLoad(number->getType(), b.CreateConstInBoundsGEP1_64(word, g, k));
      const auto lanes = llvm::cast<llvm::FixedVectorType>(use->get()->getType())->getNumElements();
      use->set(b.CreateVectorSplat(lanes, element));
    }
    ++k;
  }
}

}  // namespace

void move_constants_to_table(llvm::Module& m) {
  for (llvm::Function& f : m) {
    const Numbers numbers = numbers_of(f);
    if (numbers.size() >= kMany) move_to_table(f, numbers);
  }
}

}  // namespace us::codegen
