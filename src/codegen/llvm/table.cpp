// SPDX-License-Identifier: Apache-2.0
// Constant tables: a load for a uniform index; for lanes, permutes of registers where the processor has them, else a
// gather.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/values.h"

namespace us::codegen {
namespace {

constexpr u32 kPart = 16;  // lanes of one 512-bit register

std::vector<int> lanes_from(u32 first) {
  std::vector<int> r;
  for (u32 k = 0; k < kPart; ++k) r.push_back(static_cast<int>(first + k));
  return r;
}

}  // namespace

// The entries that 16 lanes ask for, from `entries` of up to 128: pairs of registers are looked up, then chosen
// between.
llvm::Value* Values::permuted(std::span<const u32> entries, Value* index) {
  std::vector<Value*> found;
  auto part = [&](std::size_t at) -> Value* {
    return llvm::ConstantDataVector::get(c_, llvm::ArrayRef<u32>(entries.data() + at, kPart));
  };
  if (entries.size() == kPart)
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_si_512, {}, {part(0), index});
  for (std::size_t at = 0; at < entries.size(); at += 2 * kPart)
    found.push_back(
        b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {}, {part(at), index, part(at + kPart)}));
  for (u32 bit = 2 * kPart; found.size() > 1; bit *= 2) {
    Value* upper = b_.CreateICmpNE(b_.CreateAnd(index, llvm::ConstantInt::get(index->getType(), bit)),
                                   llvm::Constant::getNullValue(index->getType()));
    std::vector<Value*> next;
    for (std::size_t k = 0; k < found.size(); k += 2) next.push_back(b_.CreateSelect(upper, found[k + 1], found[k]));
    found = next;
  }
  return found[0];
}

V Values::table(std::span<const u32> entries, V index) {
  index = canon(index);
  if (at(index).shape.constant() && at(index).shape.uniform())
    return imm(32, entries[at(index).shape.value & (entries.size() - 1)]);
  const bool uniform = at(index).shape.uniform();
  const bool registers = !uniform && m_.avx512 && entries.size() >= kPart && entries.size() <= 8 * kPart;
  if (registers) {
    Value* i = vec(index);
    Value* low = permuted(entries, b_.CreateShuffleVector(i, lanes_from(0)));
    Value* high = permuted(entries, b_.CreateShuffleVector(i, lanes_from(kPart)));
    std::vector<int> both;
    for (u32 k = 0; k < kWarpSize; ++k) both.push_back(static_cast<int>(k));
    return make_varying(b_.CreateShuffleVector(low, high, both), 32);
  }
  llvm::GlobalVariable*& global = m_.tables[entries.data()];
  if (!global) {
    auto* data = llvm::ConstantDataArray::get(c_, llvm::ArrayRef<u32>(entries.data(), entries.size()));
    global =
        new llvm::GlobalVariable(*m_.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "table");
    global->setAlignment(llvm::Align(64));
  }
  index = bin(Bin::And, index, imm(32, entries.size() - 1));
  if (uniform)
    return make_uniform(b_.CreateLoad(b_.getInt32Ty(), b_.CreateGEP(b_.getInt32Ty(), global, at(index).base)),
                        uniform_shape(32));
  Value* pointers = b_.CreateGEP(b_.getInt32Ty(), global, vec(index));
  return make_varying(b_.CreateMaskedGather(vec_type(32), pointers, llvm::Align(4)), 32);
}

}  // namespace us::codegen
