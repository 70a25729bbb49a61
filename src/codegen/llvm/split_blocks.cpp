// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/split_blocks.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include <iterator>

#include "base/types.h"

namespace us::codegen {
namespace {

constexpr u32 kPiece = 400;        // instructions of a piece
constexpr u32 kLong = 2 * kPiece;  // shorter blocks stay whole
constexpr u32 kMostLoads = 64;     // of a piece between which nothing is written

// Stack slots must stay in the entry block.
llvm::BasicBlock::iterator first_place(llvm::BasicBlock& block) {
  auto at = block.getFirstInsertionPt();
  for (auto it = at; it != block.end(); ++it)
    if (llvm::isa<llvm::AllocaInst>(*it)) at = std::next(it);
  return at;
}

void split(llvm::BasicBlock* block) {
  auto at = first_place(*block);
  for (;;) {
    if (std::distance(at, block->end()) <= kLong) return;
    block = block->splitBasicBlock(std::next(at, kPiece));
    llvm::BlockAddress::get(block);  // CodeGenPrepare would join it with the one before
    at = block->begin();
  }
}

// Instruction selection compares each load of a vector with all others between which nothing is written, for each of
// the processor's vectors that they take: 240 of them took 10 s without AVX-512.
void split_loads(llvm::BasicBlock* block) {
  u32 loads = 0;
  for (auto at = first_place(*block); at != block->end(); ++at) {
    if (at->mayWriteToMemory()) loads = 0;
    if (llvm::isa<llvm::LoadInst>(*at) && at->getType()->isVectorTy()) ++loads;
    if (loads <= kMostLoads || at->isTerminator()) continue;
    block = block->splitBasicBlock(at);
    llvm::BlockAddress::get(block);
    at = block->begin(), loads = 0;
  }
}

}  // namespace

void split_long_blocks(llvm::Module& module) {
  for (llvm::Function& f : module)
    for (auto it = f.begin(); it != f.end();) {
      llvm::BasicBlock& block = *it++;  // pieces need no second look
      if (block.sizeWithoutDebug() > kLong) split(&block);
    }
  for (llvm::Function& f : module)
    for (auto it = f.begin(); it != f.end();) {
      llvm::BasicBlock& block = *it++;
      split_loads(&block);
    }
}

}  // namespace us::codegen
