// SPDX-License-Identifier: Apache-2.0
// Integer operations of the builder (Bin, Un, ICmp) on values of up to 64 bits: what the interpreter computes and what
// shapes fold. Bits above the width are zero in operands and arbitrary in results.
#pragma once
#include <algorithm>
#include <bit>

#include "codegen/builder.h"

namespace us::codegen::integer {

inline i64 sign_extend(u64 v, u32 bits) {
  const u32 s = 64 - bits;
  return static_cast<i64>(v << s) >> s;
}
inline u64 divide(bool sign, bool rest, u64 a, u64 b, u32 bits) {
  if (b == 0) return ~0ull;
  if (!sign) return rest ? a % b : a / b;
  const i64 x = sign_extend(a, bits), y = sign_extend(b, bits);
  if (y == -1) return rest ? 0 : 0 - a;
  return static_cast<u64>(rest ? x % y : x / y);
}
inline u64 binary(Bin op, u64 a, u64 b, u32 bits) {
  const i64 x = sign_extend(a, bits), y = sign_extend(b, bits);
  switch (op) {
    case Bin::Add:
      return a + b;
    case Bin::Sub:
      return a - b;
    case Bin::Mul:
      return a * b;
    case Bin::UDiv:
      return divide(false, false, a, b, bits);
    case Bin::SDiv:
      return divide(true, false, a, b, bits);
    case Bin::URem:
      return divide(false, true, a, b, bits);
    case Bin::SRem:
      return divide(true, true, a, b, bits);
    case Bin::And:
      return a & b;
    case Bin::Or:
      return a | b;
    case Bin::Xor:
      return a ^ b;
    case Bin::Shl:
      return b >= bits ? 0 : a << b;
    case Bin::LShr:
      return b >= bits ? 0 : a >> b;
    case Bin::AShr:
      return static_cast<u64>(x >> std::min<u64>(b, bits - 1));
    case Bin::UMin:
      return std::min(a, b);
    case Bin::UMax:
      return std::max(a, b);
    case Bin::SMin:
      return static_cast<u64>(std::min(x, y));
    case Bin::SMax:
      return static_cast<u64>(std::max(x, y));
    case Bin::MulHiU:
      return static_cast<u64>((static_cast<unsigned __int128>(a) * b) >> bits);
    case Bin::MulHiS:
      return static_cast<u64>((static_cast<__int128>(x) * y) >> bits);
  }
  US_UNREACHABLE();
}
inline u64 reverse_bits(u64 v) {
  u64 r = 0;
  for (u32 k = 0; k < 64; ++k) r |= (v >> k & 1) << (63 - k);
  return r;
}
inline u64 unary(Un op, u64 a, u32 bits) {
  switch (op) {
    case Un::Not:
      return ~a;
    case Un::Neg:
      return 0 - a;
    case Un::PopCount:
      return static_cast<u64>(std::popcount(a));
    case Un::Clz:
      return static_cast<u64>(std::countl_zero(a)) - (64 - bits);
    case Un::Ctz:
      return a ? static_cast<u64>(std::countr_zero(a)) : bits;
    case Un::BitReverse:
      return reverse_bits(a) >> (64 - bits);
    case Un::ByteSwap:
      return __builtin_bswap64(a) >> (64 - bits);
    case Un::Abs:
      return sign_extend(a, bits) < 0 ? 0 - a : a;
  }
  US_UNREACHABLE();
}
inline bool compare(ICmp c, u64 a, u64 b, u32 bits) {
  const i64 x = sign_extend(a, bits), y = sign_extend(b, bits);
  switch (c) {
    case ICmp::Eq:
      return a == b;
    case ICmp::Ne:
      return a != b;
    case ICmp::ULt:
      return a < b;
    case ICmp::ULe:
      return a <= b;
    case ICmp::UGt:
      return a > b;
    case ICmp::UGe:
      return a >= b;
    case ICmp::SLt:
      return x < y;
    case ICmp::SLe:
      return x <= y;
    case ICmp::SGt:
      return x > y;
    case ICmp::SGe:
      return x >= y;
  }
  US_UNREACHABLE();
}

}  // namespace us::codegen::integer
