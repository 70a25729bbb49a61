// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "codegen/eval/eval_builder.h"

namespace us::codegen::eval {
namespace {

using u128 = unsigned __int128;

i64 as_signed(u64 v, u32 bits) {
  const u32 s = 64 - bits;
  return static_cast<i64>(v << s) >> s;
}
u64 divide(bool sign, bool rest, u64 a, u64 b, u32 bits) {
  if (b == 0) return ~0ull;
  if (!sign) return rest ? a % b : a / b;
  const i64 x = as_signed(a, bits), y = as_signed(b, bits);
  if (y == -1) return rest ? 0 : 0 - a;
  return static_cast<u64>(rest ? x % y : x / y);
}
u64 binary(Bin op, u64 a, u64 b, u32 bits) {
  const i64 x = as_signed(a, bits), y = as_signed(b, bits);
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
      return static_cast<u64>((static_cast<u128>(a) * b) >> bits);
    case Bin::MulHiS:
      return static_cast<u64>((static_cast<__int128>(x) * y) >> bits);
  }
  US_UNREACHABLE();
}
// 128-bit values only move, shift and combine.
u128 binary128(Bin op, u128 a, u128 b) {
  switch (op) {
    case Bin::And:
      return a & b;
    case Bin::Or:
      return a | b;
    case Bin::Xor:
      return a ^ b;
    case Bin::Shl:
      return b >= 128 ? 0 : a << static_cast<u32>(b);
    case Bin::LShr:
      return b >= 128 ? 0 : a >> static_cast<u32>(b);
    default:
      US_UNREACHABLE();
  }
}
u64 reverse_bits(u64 v) {
  u64 r = 0;
  for (u32 k = 0; k < 64; ++k) r |= (v >> k & 1) << (63 - k);
  return r;
}
u64 unary(Un op, u64 a, u32 bits) {
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
      return as_signed(a, bits) < 0 ? 0 - a : a;
  }
  US_UNREACHABLE();
}
bool compare(ICmp c, u64 a, u64 b, u32 bits) {
  const i64 x = as_signed(a, bits), y = as_signed(b, bits);
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
u128 whole(const Value& v, u32 lane) { return static_cast<u128>(v.hi[lane]) << 64 | v.lo[lane]; }

}  // namespace

Value& EvalBuilder::make(u32 bits, V& out) {
  if (used_ == values_.size()) values_.emplace_back();
  Value& v = values_[used_++];
  out.id = used_;
  v.bits = bits;
  v.lo.fill(0);
  if (bits > 64) v.hi.fill(0);
  return v;
}
u32 EvalBuilder::width(V v) { return value(v).bits; }
V EvalBuilder::imm(u32 bits, u64 x) {
  return per_lane(bits, [&](u32) { return x; });
}
V EvalBuilder::bin(Bin op, V a, V b) {
  const u32 bits = width(a);
  if (bits <= 64) return per_lane(bits, [&](u32 l) { return binary(op, get(a, l), get(b, l), bits); });
  V out;
  Value& r = make(bits, out);
  for (u32 l = 0; l < 32; ++l) {
    const Value& second = value(b);
    const u128 x = binary128(op, whole(value(a), l), second.bits > 64 ? whole(second, l) : second.lo[l]);
    r.lo[l] = static_cast<u64>(x), r.hi[l] = static_cast<u64>(x >> 64);
  }
  return out;
}
V EvalBuilder::un(Un op, V a) {
  return per_lane(width(a), [&](u32 l) { return unary(op, get(a, l), width(a)); });
}
V EvalBuilder::icmp(ICmp c, V a, V b) {
  return per_lane(1, [&](u32 l) { return compare(c, get(a, l), get(b, l), width(a)); });
}
V EvalBuilder::select(V cond, V a, V b) {
  V out;
  Value& r = make(width(a), out);
  for (u32 l = 0; l < 32; ++l) {
    const Value& from = value(get(cond, l) ? a : b);
    r.lo[l] = from.lo[l];
    if (r.bits > 64) r.hi[l] = from.hi[l];
  }
  return out;
}
V EvalBuilder::resize(V a, u32 bits, bool sign) {
  const u32 from = width(a);
  if (bits <= 64)
    return per_lane(
        bits, [&](u32 l) { return sign && from < bits ? static_cast<u64>(as_signed(get(a, l), from)) : get(a, l); });
  V out;
  Value& r = make(bits, out);
  for (u32 l = 0; l < 32; ++l) {
    const u64 low = get(a, l);
    r.lo[l] = sign && from < 64 ? static_cast<u64>(as_signed(low, from)) : low;
    r.hi[l] = from > 64 ? value(a).hi[l] : sign && static_cast<i64>(r.lo[l]) < 0 ? ~0ull : 0;
  }
  return out;
}
V EvalBuilder::lanewise(device::NumFn fn, std::initializer_list<V> args, u32 result_bits) {
  const device::NumFunction f = warp_.num[static_cast<std::size_t>(fn)];
  return per_lane(result_bits, [&](u32 l) {
    u64 x[3] = {0, 0, 0};
    u32 k = 0;
    for (V a : args) x[k++] = get(a, l);
    return f(x[0], x[1], x[2]);
  });
}
V EvalBuilder::table(std::span<const u32> entries, V index) {
  return per_lane(32, [&](u32 l) { return entries[get(index, l) & (entries.size() - 1)]; });
}

}  // namespace us::codegen::eval
