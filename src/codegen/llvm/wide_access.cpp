// SPDX-License-Identifier: Apache-2.0
// Strong (volatile, relaxed, acquire, release) accesses to vectors: a lane's 8 or 16 bytes move in one access. The PTX
// ISA promises order for the components only, but an H200 moves the whole, and programs rely on it: the look-back of
// CUB keeps a value and its status in one 16-byte word.
#include "codegen/llvm/memory.h"
#include "codegen/lower/shape_builder.h"

namespace us::codegen {

using isa::Space;

static u32 whole_bits(const MemRef& m) { return m.bits * m.count; }

bool Memory::moves_wide(const MemRef& m) {
  const u32 total = whole_bits(m);
  return m.order != Order::Weak && (m.count > 1 || m.bits == 128) && m.space != Space::Param &&
         m.space != Space::Const && m.space != Space::Local &&
         (total == 16 || total == 32 || total == 64 || total == 128);
}

// The `count` components of `bits` from words of 64 bits or fewer, the first in the low bits.
void Memory::split_words(std::span<const V> words, u32 bits, std::span<V> out) {
  if (bits == 128) {
    auto* type = v_.vec_type(128);
    Value* low = b_.CreateZExt(v_.vec(words[0]), type);
    Value* high = b_.CreateShl(b_.CreateZExt(v_.vec(words[1]), type), llvm::ConstantInt::get(type, 64));
    out[0] = v_.make_varying(b_.CreateOr(low, high), 128);
    return;
  }
  const u32 per_word = static_cast<u32>(out.size() / words.size());
  for (u32 c = 0; c < out.size(); ++c)
    out[c] = v_.resize(v_.bin(Bin::LShr, words[c / per_word], v_.imm(32, c % per_word * bits)), bits, false);
}

std::vector<V> Memory::join_words(const MemRef& m, std::span<const V> in) {
  if (m.bits == 128) {
    Value* all = v_.vec(in[0]);
    Value* high = b_.CreateLShr(all, llvm::ConstantInt::get(all->getType(), 64));
    return {v_.make_varying(b_.CreateTrunc(all, v_.vec_type(64)), 64),
            v_.make_varying(b_.CreateTrunc(high, v_.vec_type(64)), 64)};
  }
  const u32 word = std::min(64u, whole_bits(m));
  const u32 per_word = word / m.bits;
  std::vector<V> words;
  for (u32 c = 0; c < m.count; ++c) {
    V part = v_.resize(in[c], word, false);
    if (c % per_word == 0)
      words.push_back(part);
    else
      words.back() = v_.bin(Bin::Or, words.back(), v_.bin(Bin::Shl, part, v_.imm(32, c % per_word * m.bits)));
  }
  return words;
}

void Memory::load_wide(const MemRef& m, std::span<V> out) {
  if (whole_bits(m) < 128) {
    MemRef one = m;
    one.bits = whole_bits(m);
    one.count = 1;
    V word;
    load(one, {&word, 1});
    return split_words({&word, 1}, m.bits, out);
  }
  Value* root = nullptr;
  require_rights(m, false);
  LV addr = address(m, &root);
  tests_.require_bounds(m, addr, false);
  tests_.require_alignment(m, addr);
  compiler_fence();
  auto* pair = llvm::FixedVectorType::get(b_.getInt64Ty(), 2);
  auto read = [&](Value* p) {
    auto* l = b_.CreateAlignedLoad(pair, p, llvm::Align(16));
    l->setVolatile(true);
    return l;
  };
  V words[2];
  if (addr.shape.uniform()) {
    Shape a = addr.shape;
    const bool uniform = shape_load(m, m.addr ? &a : nullptr, s_.frame->lanes_apart()).uniform();
    Value* both = read(pointer_at(b_, root, addr.base, m.offset));
    for (u64 k = 0; k < 2; ++k) {
      Value* x = b_.CreateExtractElement(both, k);
      words[k] =
          uniform ? v_.make_uniform(x, uniform_shape(64)) : v_.make_varying(b_.CreateVectorSplat(kWarpSize, x), 64);
    }
  } else {
    Value* ptrs = pointer_vector(root, addr);
    Value* where = s_.new_alloca(ptrs->getType(), "whole.p");
    Value* what = s_.new_alloca(llvm::FixedVectorType::get(b_.getInt64Ty(), 2 * kWarpSize), "whole.v");
    b_.CreateStore(ptrs, where);
    for_each_lane([&](Value* lane) {
      Value* p = b_.CreateLoad(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), where, lane));
      Value* x = read(b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<u64>(m.offset))));
      b_.CreateAlignedStore(x, b_.CreateGEP(pair, what, lane), llvm::Align(16));
    });
    Value* all = b_.CreateLoad(llvm::FixedVectorType::get(b_.getInt64Ty(), 2 * kWarpSize), what);
    for (int k = 0; k < 2; ++k) {
      std::vector<int> every_second;
      for (int l = 0; l < static_cast<int>(kWarpSize); ++l) every_second.push_back(2 * l + k);
      words[k] = v_.make_varying(b_.CreateShuffleVector(all, every_second), 64);
    }
  }
  compiler_fence();
  split_words(words, m.bits, out);
}

void Memory::store_wide(const MemRef& m, std::span<const V> in) {
  const std::vector<V> words = join_words(m, in);
  if (words.size() == 1) {
    MemRef one = m;
    one.bits = whole_bits(m);
    one.count = 1;
    return store(one, words);
  }
  Value* root = nullptr;
  require_rights(m, true);
  LV addr = address(m, &root);
  tests_.require_alignment(m, addr);
  tests_.require_bounds(m, addr, true);
  compiler_fence();
  std::vector<int> interleaved;
  for (int l = 0; l < static_cast<int>(kWarpSize); ++l) {
    interleaved.push_back(l);
    interleaved.push_back(l + static_cast<int>(kWarpSize));
  }
  auto* pair = llvm::FixedVectorType::get(b_.getInt64Ty(), 2);
  Value* what = s_.new_alloca(llvm::FixedVectorType::get(b_.getInt64Ty(), 2 * kWarpSize), "whole.v");
  b_.CreateStore(b_.CreateShuffleVector(v_.vec(words[0]), v_.vec(words[1]), interleaved), what);
  Value* ptrs = pointer_vector(root, addr);
  Value* where = s_.new_alloca(ptrs->getType(), "whole.p");
  b_.CreateStore(ptrs, where);
  for_each_lane([&](Value* lane) {
    Value* p = b_.CreateLoad(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), where, lane));
    Value* x = b_.CreateAlignedLoad(pair, b_.CreateGEP(pair, what, lane), llvm::Align(16));
    auto* s = b_.CreateAlignedStore(x, b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<u64>(m.offset))),
                                    llvm::Align(16));
    s->setVolatile(true);
  });
  compiler_fence();
}

}  // namespace us::codegen
