// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/short_calls.h"

#include <llvm/Support/raw_ostream.h>

namespace us::codegen {

using device::RtFn;
using device::WarpCtx;
using llvm::Value;

namespace {

std::string name_of(RtFn fn, llvm::FunctionType* type) {
  std::string name;
  llvm::raw_string_ostream out(name);
  out << "call." << static_cast<u32>(fn);
  for (const llvm::Type* t : type->params()) out << '.' << *t;
  return name;
}

llvm::Function* short_way(ModuleEmitter& m, RtFn fn, llvm::FunctionType* type) {
  const std::string name = name_of(fn, type);
  if (llvm::Function* known = m.module->getFunction(name)) return known;
  auto* f = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, *m.module);
  set_attributes(f);
  f->addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(m.context, "", f));
  auto* row = llvm::FixedVectorType::get(b.getInt64Ty(), kWarpSize);
  std::vector<Value*> rows;
  for (u32 k = 2; k < type->getNumParams(); ++k) {
    Value* a = f->getArg(k);
    if (a->getType()->isPointerTy()) {
      Value* distances = b.CreateAlignedLoad(row, a, llvm::Align(8));
      rows.push_back(b.CreateAdd(distances, b.CreateVectorSplat(kWarpSize, f->getArg(++k))));
    } else {
      rows.push_back(a->getType()->isVectorTy() ? b.CreateZExt(a, row) : b.CreateVectorSplat(kWarpSize, a));
    }
  }
  auto* at = b.CreateAlloca(llvm::ArrayType::get(row, rows.size()));
  at->setAlignment(llvm::Align(64));
  for (std::size_t k = 0; k < rows.size(); ++k)
    b.CreateAlignedStore(rows[k], b.CreateConstInBoundsGEP1_64(row, at, k), llvm::Align(64));
  llvm::Type* ptr = b.getPtrTy();
  const auto load = [&](Value* p, std::size_t offset) {
    return b.CreateLoad(ptr, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), p, offset));
  };
  Value* callee = load(load(f->getArg(0), offsetof(WarpCtx, rt)), static_cast<std::size_t>(fn) * 8);
  b.CreateCall(llvm::FunctionType::get(b.getVoidTy(), {ptr, b.getInt32Ty(), ptr, ptr}, false), callee,
               {f->getArg(0), f->getArg(1), at, llvm::ConstantPointerNull::get(b.getPtrTy())});
  b.CreateRetVoid();
  return f;
}

}  // namespace

llvm::Constant* distances(ModuleEmitter& m, const Shape& s) {
  std::vector<u64> all;
  for (u32 l = 0; l < kWarpSize; ++l) all.push_back(static_cast<u64>(s.offset(l)));
  llvm::GlobalVariable*& global = m.patterns[all];
  if (!global) {
    auto* data = llvm::ConstantDataArray::get(m.context, llvm::ArrayRef<u64>(all));
    global =
        new llvm::GlobalVariable(*m.module, data->getType(), true, llvm::GlobalValue::InternalLinkage, data, "pattern");
  }
  return global;
}

// Arguments: of a pattern its distances and its base, of a uniform value the value, else the vector as narrow as it is.
void call_shortly(FunctionState& s, Values& values, RtFn fn, std::span<const V> args) {
  US_CHECK(device::takes(fn, args.size()) && device::gives(fn, 0));
  std::vector<Value*> in{s.frame->ctx(), s.mask()};
  const auto scalar = [&](const LV& v) -> Value* {
    return v.shape.known ? s.b.getInt64(v.shape.value) : s.b.CreateZExt(v.base, s.b.getInt64Ty());
  };
  for (V v : args) {
    LV& a = values.at(values.canon(v));
    if (a.shape.uniform()) {
      in.push_back(scalar(a));
    } else if (a.shape.pattern() && !a.shape.guarded && a.shape.bits == 64) {
      in.push_back(distances(s.m, a.shape));
      in.push_back(scalar(a));
    } else {
      Value* lanes = values.vec(a);
      const auto* wider = llvm::dyn_cast<llvm::ZExtInst>(lanes);
      in.push_back(wider ? wider->getOperand(0) : lanes);
    }
  }
  std::vector<llvm::Type*> types;
  for (const Value* v : in) types.push_back(v->getType());
  s.b.CreateCall(short_way(s.m, fn, llvm::FunctionType::get(s.b.getVoidTy(), types, false)), in);
}

}  // namespace us::codegen
