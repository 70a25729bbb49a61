// SPDX-License-Identifier: Apache-2.0
// What atomic operations make of the value in memory. Written once, over the arithmetic that runs it: scalars
// (ScalarArithmetic: the interpreter, reductions of copies and surfaces) or values of a builder (compiled code:
// codegen/semantics/atomic.h).
//
// Rules, from the PTX ISA's "atom" and recordings (oracle/ptx, atomics.*): global memory adds f32 with subnormals
// flushed to zero of the same sign, shared memory and asynchronous copies keep them. Minimum and maximum of halves: a
// NaN operand loses, -0 < +0. Of two NaN of f64 the operand survives in global memory, what is there in shared memory.
#pragma once
#include <bit>

#include "numerics/numerics.h"

namespace us::numerics {

enum class AtomicOp : u8 { Add, And, Or, Xor, Min, Max, Inc, Dec, Exch, Cas, FAdd, FMin, FMax };

struct AtomicType {
  enum class Number : u8 { Unsigned, Signed, F16, BF16, F32, F64 };
  Number number = Number::Unsigned;
  bool packed = false;  // two halves in a word
  bool shared = false;  // as shared memory does it
  bool flushes() const { return number == Number::F32 && !shared; }
};

// x: the operand, of Cas what memory must hold; y: what Cas then stores.
template <class Arithmetic, class Value = typename Arithmetic::Value>
Value updated(const Arithmetic& a, AtomicOp op, Value old, Value x, Value y) {
  const auto float_result = [&](Value from, Value with) {
    if (op != AtomicOp::FAdd) return a.float_extreme(op == AtomicOp::FMin, from, with);
    if (!a.type.flushes()) return a.sum(from, with);
    return a.flushed(a.sum(a.flushed(from), a.flushed(with)));
  };
  switch (op) {
    case AtomicOp::Add:
      return a.add(old, x);
    case AtomicOp::And:
      return a.bit_and(old, x);
    case AtomicOp::Or:
      return a.bit_or(old, x);
    case AtomicOp::Xor:
      return a.bit_xor(old, x);
    case AtomicOp::Min:
    case AtomicOp::Max:
      return a.extreme(op == AtomicOp::Min, old, x);
    case AtomicOp::Inc:
      return a.select(a.at_least(old, x), a.number(0), a.add(old, a.number(1)));
    case AtomicOp::Dec:
      return a.select(a.either(a.equal(old, a.number(0)), a.above(old, x)), x, a.subtract(old, a.number(1)));
    case AtomicOp::Exch:
      return x;
    case AtomicOp::Cas:
      return a.select(a.equal(old, x), y, old);
    case AtomicOp::FAdd:
    case AtomicOp::FMin:
    case AtomicOp::FMax:
      return a.type.packed ? a.on_halves(float_result, old, x) : float_result(old, x);
  }
  US_UNREACHABLE();
}

// On the bits of one element. T: an unsigned type of the element's size, or of the word's if it is packed.
template <class T>
struct ScalarArithmetic {
  using Value = T;
  using Number = AtomicType::Number;
  AtomicType type;

  static T number(u64 v) { return static_cast<T>(v); }
  static T add(T a, T b) { return static_cast<T>(a + b); }
  static T subtract(T a, T b) { return static_cast<T>(a - b); }
  static T bit_and(T a, T b) { return a & b; }
  static T bit_or(T a, T b) { return a | b; }
  static T bit_xor(T a, T b) { return a ^ b; }
  static bool at_least(T a, T b) { return a >= b; }
  static bool above(T a, T b) { return a > b; }
  static bool equal(T a, T b) { return a == b; }
  static bool either(bool a, bool b) { return a || b; }
  static T select(bool c, T a, T b) { return c ? a : b; }
  T extreme(bool least, T a, T b) const {
    const T sign = static_cast<T>(type.number == Number::Signed ? T{1} << (8 * sizeof(T) - 1) : T{0});
    return ((a ^ sign) < (b ^ sign)) == least ? a : b;
  }

  static T flushed(T v) {
    const u32 bits = static_cast<u32>(v);
    return static_cast<T>((bits & 0x7fffffffu) < 0x00800000u ? bits & 0x80000000u : bits);
  }
  T sum(T a, T b) const {
    if (type.number == Number::F32) {
      const float r = std::bit_cast<float>(static_cast<u32>(a)) + std::bit_cast<float>(static_cast<u32>(b));
      return static_cast<T>(r != r ? 0x7fffffffu : std::bit_cast<u32>(r));
    }
    if (type.number == Number::F64) return static_cast<T>(sum64(static_cast<u64>(a), static_cast<u64>(b)));
    return static_cast<T>(narrow(half(a) + half(b), 0, format(), Round::Nearest));
  }
  T float_extreme(bool least, T a, T b) const {
    const double x = half(a), y = half(b);
    if (x != x) return y != y ? number(0x7fff) : b;
    if (y != y) return a;
    const bool less = x < y || (x == y && std::bit_cast<i64>(x) < 0);
    return less == least ? a : b;
  }
  template <class F>
  static T on_halves(F&& f, T a, T b) {
    const auto part = [](T v, u32 k) { return static_cast<T>(v >> 16 * k & 0xffff); };
    return static_cast<T>(f(part(a, 0), part(b, 0)) | f(part(a, 1), part(b, 1)) << 16);
  }

 private:
  Format format() const { return type.number == Number::BF16 ? kBF16 : kF16; }
  double half(T v) const { return widen(static_cast<u64>(v), format()); }
  u64 sum64(u64 a, u64 b) const {
    const double r = std::bit_cast<double>(a) + std::bit_cast<double>(b);
    if (r == r) return std::bit_cast<u64>(r);
    for (const u64 v : {type.shared ? a : b, type.shared ? b : a})
      if ((v << 1) > 0xffe0000000000000ull) return v | 1ull << 51;
    return 0xfff8000000000000ull;
  }
};

}  // namespace us::numerics
