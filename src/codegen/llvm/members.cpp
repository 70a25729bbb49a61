// SPDX-License-Identifier: Apache-2.0
// Who takes part in a .sync instruction, as an H100 does it (oracle/masks):
//
//   the whole warp comes, and all lanes have      all lanes take part, whatever the mask says: the compiler of the
//                                                 hardware
//   the same mask, as the compiler can tell       leaves the test away
//   a lane that its own mask does not name        an illegal instruction
//   masks that differ                             lanes of equal masks execute it together
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/warp_builder.h"

namespace us::codegen {

using device::RtFn;

V WarpBuilder::members(V m) {
  const Shape shape = v_.at(m).shape;
  if (shape.constant() && shape.uniform() && static_cast<u32>(shape.value) == kFullMask) return m;
  const bool come_together = shape.uniform() && f_.entry && s_.inst->guard.kind == ir::Operand::Kind::None;
  if (!shape.uniform()) {
    std::vector<llvm::Constant*> lanes;
    for (u32 l = 0; l < kWarpSize; ++l) lanes.push_back(b_.getInt32(1u << l));
    Value* named = b_.CreateAnd(v_.vec(m), llvm::ConstantVector::get(lanes));
    Value* unnamed = b_.CreateICmpEQ(named, llvm::Constant::getNullValue(v_.vec_type(32)));
    refuse_strays(m, b_.CreateAnd(b_.CreateBitCast(unnamed, b_.getInt32Ty()), s_.mask()));
    return m;
  }
  Value* strays = b_.CreateAnd(s_.mask(), b_.CreateNot(v_.at(m).base));
  if (!come_together || (a_.guarded[s_.cur] && !s_.frame->lanes_apart())) {
    refuse_strays(m, strays);
    return m;
  }
  if (s_.frame->lanes_apart()) {  // lanes that went another way may have ended by now
    Value* everyone = m_.facts.full_warps() ? static_cast<Value*>(b_.getInt32(static_cast<u32>(kFullMask)))
                                            : b_.CreateLoad(b_.getInt32Ty(), s_.live);
    Value* whole = b_.CreateICmpEQ(s_.mask(), everyone);
    refuse_strays(m, b_.CreateSelect(whole, b_.getInt32(0), strays));
  }
  Value* all = b_.CreateSelect(b_.CreateICmpNE(strays, b_.getInt32(0)), s_.mask(), v_.at(m).base);
  return s_.frame->lanes_apart() ? v_.make_varying(b_.CreateVectorSplat(kWarpSize, all), 32)
                                 : v_.make_uniform(all, uniform_shape(32));
}

void WarpBuilder::refuse_strays(V m, Value* strays) {
  stores_.flush();
  auto* refuse = Block::Create(c_, "members.stray", s_.out);
  auto* go = Block::Create(c_, "members.go", s_.out);
  b_.CreateCondBr(b_.CreateICmpNE(strays, b_.getInt32(0)), refuse, go,
                  llvm::MDBuilder(c_).createBranchWeights(1, 1000));
  b_.SetInsertPoint(refuse);
  V none;
  runtime_.call(RtFn::Stray, {m}, {}, &none);
  b_.CreateBr(go);
  b_.SetInsertPoint(go);
}

}  // namespace us::codegen
