// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/split_blocks.h"

#include <llvm/IR/Constants.h>

#include <iterator>

#include "base/types.h"

namespace us::codegen {
namespace {

constexpr u32 kPiece = 400;        // instructions of a piece
constexpr u32 kLong = 2 * kPiece;  // shorter blocks stay whole

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

}  // namespace

void split_long_blocks(llvm::Module& module) {
  for (llvm::Function& f : module)
    for (auto it = f.begin(); it != f.end();) {
      llvm::BasicBlock& block = *it++;  // pieces need no second look
      if (block.sizeWithoutDebug() > kLong) split(&block);
    }
}

}  // namespace us::codegen
