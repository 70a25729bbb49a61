// SPDX-License-Identifier: Apache-2.0
#include "codegen/eval/eval_builder.h"
#include "codegen/integer.h"

namespace us::codegen::eval {
namespace {

using u128 = unsigned __int128;

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
  if (bits <= 64) return per_lane(bits, [&](u32 l) { return integer::binary(op, get(a, l), get(b, l), bits); });
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
  return per_lane(width(a), [&](u32 l) { return integer::unary(op, get(a, l), width(a)); });
}
V EvalBuilder::icmp(ICmp c, V a, V b) {
  return per_lane(1, [&](u32 l) { return integer::compare(c, get(a, l), get(b, l), width(a)); });
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
    return per_lane(bits, [&](u32 l) {
      return sign && from < bits ? static_cast<u64>(integer::sign_extend(get(a, l), from)) : get(a, l);
    });
  V out;
  Value& r = make(bits, out);
  for (u32 l = 0; l < 32; ++l) {
    const u64 low = get(a, l);
    r.lo[l] = sign && from < 64 ? static_cast<u64>(integer::sign_extend(low, from)) : low;
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
