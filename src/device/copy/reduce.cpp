// SPDX-License-Identifier: Apache-2.0
#include "device/copy/reduce.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "numerics/numerics.h"

namespace us::device {
namespace {

template <class T>
T combine_integer(ReduceOp op, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case ReduceOp::Add:
      return T(U(a) + U(b));
    case ReduceOp::Min:
      return std::min(a, b);
    case ReduceOp::Max:
      return std::max(a, b);
    case ReduceOp::Inc:
      return U(a) >= U(b) ? T(0) : T(U(a) + 1);
    case ReduceOp::Dec:
      return U(a) == 0 || U(a) > U(b) ? b : T(U(a) - 1);
    case ReduceOp::And:
      return a & b;
    case ReduceOp::Or:
      return a | b;
    default:
      return a ^ b;
  }
}

float combine_float(float a, float b) {
  const float r = a + b;
  return std::isnan(r) ? std::bit_cast<float>(0x7fffffffu) : r;
}
double combine_float(double a, double b) { return a + b; }

u16 combine_half(ReduceOp op, u16 a, u16 b, numerics::Format f) {
  const double x = numerics::widen(a, f), y = numerics::widen(b, f);
  double r = x + y;
  if (op != ReduceOp::Add) {
    if (std::isnan(x) || std::isnan(y))
      r = std::isnan(x) ? y : x;
    else if (x == y)
      r = (std::signbit(x) == (op == ReduceOp::Min)) ? x : y;
    else
      r = (x < y) == (op == ReduceOp::Min) ? x : y;
  }
  return u16(numerics::narrow(r, 0, f, numerics::Round::Nearest));
}

template <class T, class F>
void each(u8* dst, const u8* src, u32 bytes, F combine) {
  for (u32 at = 0; at < bytes; at += sizeof(T)) {
    T b;
    std::memcpy(&b, src + at, sizeof b);
    std::atomic_ref<T> cell(*reinterpret_cast<T*>(dst + at));
    T seen = cell.load(std::memory_order_relaxed);
    while (!cell.compare_exchange_weak(seen, combine(seen, b), std::memory_order_relaxed)) {
    }
  }
}

}  // namespace

u32 bytes_of(Element e) {
  switch (e) {
    case Element::F16:
    case Element::BF16:
      return 2;
    case Element::U64:
    case Element::S64:
    case Element::F64:
      return 8;
    default:
      return 4;
  }
}

void reduce_into(u8* dst, const u8* src, u32 bytes, Reduction r) {
  auto integers = [&]<class T>(T) {
    each<T>(dst, src, bytes, [&](T a, T b) { return combine_integer<T>(r.op, a, b); });
  };
  switch (r.type) {
    case Element::U32:
      return integers(u32{});
    case Element::S32:
      return integers(i32{});
    case Element::U64:
      return integers(u64{});
    case Element::S64:
      return integers(i64{});
    case Element::F16:
    case Element::BF16: {
      const numerics::Format f = r.type == Element::F16 ? numerics::kF16 : numerics::kBF16;
      return each<u16>(dst, src, bytes, [&](u16 a, u16 b) { return combine_half(r.op, a, b, f); });
    }
    case Element::F32:
      return each<u32>(dst, src, bytes, [](u32 a, u32 b) {
        return std::bit_cast<u32>(combine_float(std::bit_cast<float>(a), std::bit_cast<float>(b)));
      });
    case Element::F64:
      return each<u64>(dst, src, bytes, [](u64 a, u64 b) {
        return std::bit_cast<u64>(combine_float(std::bit_cast<double>(a), std::bit_cast<double>(b)));
      });
  }
}

}  // namespace us::device
