// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/function_state.h"

namespace us::codegen {

void FunctionState::set_debug_loc(const SrcLoc& loc) {
  llvm::DISubprogram* subprogram = out->getSubprogram();
  if (!subprogram) return;
  llvm::DIScope* scope = subprogram;
  if (loc.file) scope = m.di->createLexicalBlockFile(subprogram, m.file(loc.file));
  b.SetCurrentDebugLocation(llvm::DILocation::get(c, loc.line, loc.col, scope));
}

llvm::Value* FunctionState::new_alloca(llvm::Type* t, const char* name) {
  llvm::IRBuilder<> at_start(alloca_block, alloca_block->begin());
  auto* a = at_start.CreateAlloca(t, nullptr, name);
  if (t->isVectorTy() || t->isArrayTy()) a->setAlignment(llvm::Align(64));
  return a;
}

llvm::Value* FunctionState::load_at(Value* ptr, std::size_t offset, llvm::Type* type, const char* name,
                                    bool invariant) {
  auto* load = b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), ptr, offset), name);
  if (invariant) {
    auto* none = llvm::MDNode::get(c, {});
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, none);
  }
  return load;
}

void FunctionState::set_mask(Value* mask, bool full) {
  mask_ = mask;
  mask_full_ = full;
  mask_vec_ = nullptr;
}

llvm::Value* FunctionState::mask() { return mask_full_ ? b.getInt32(kFullMask) : mask_; }

llvm::Value* FunctionState::mask_vec() {
  auto* t = llvm::FixedVectorType::get(b.getInt1Ty(), kWarpSize);
  if (mask_full_) return llvm::Constant::getAllOnesValue(t);
  if (!mask_vec_ || mask_vec_block_ != b.GetInsertBlock()) {
    mask_vec_ = b.CreateBitCast(mask_, t);
    mask_vec_block_ = b.GetInsertBlock();
  }
  return mask_vec_;
}

}  // namespace us::codegen
