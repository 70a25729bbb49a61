// SPDX-License-Identifier: Apache-2.0
// f64 operations with directed rounding: one instruction between two loads of the rounding control. The instructions
// are written out because compilers move ordinary arithmetic across a change of the rounding mode.
#include <bit>

#include "numerics/numerics.h"

namespace us::numerics {
namespace {

constexpr u32 kDown = 0x3f80, kUp = 0x5f80, kZero = 0x7f80;  // all exceptions masked, subnormals kept

double f64(u64 b) { return std::bit_cast<double>(b); }
u64 bits(double v) { return std::bit_cast<u64>(v); }
u32 control() {
  u32 c;
  asm volatile("stmxcsr %0" : "=m"(c));
  return c;
}

// The first NaN among the operands, made quiet; 0 if there is none. The order is the hardware's.
u64 nan_of(u64 first, u64 second, u64 third = 0) {
  for (u64 v : {first, second, third})
    if ((v << 1) > 0xffe0000000000000ull) return v | 1ull << 51;
  return 0;
}

}  // namespace

#define US_BINARY(name, insn, suffix, mode, order)                                    \
  u64 name##_f64_##suffix(u64 a, u64 b, u64) {                                        \
    if (const u64 nan = nan_of order) return nan;                                     \
    const u32 old = control(), now = mode;                                            \
    double r;                                                                         \
    asm volatile("ldmxcsr %[now]\n\t" insn " %[y], %[x], %[r]\n\tldmxcsr %[old]"      \
                 : [r] "=&x"(r)                                                       \
                 : [x] "x"(f64(a)), [y] "x"(f64(b)), [now] "m"(now), [old] "m"(old)); \
    return bits(r);                                                                   \
  }
#define US_FMA(suffix, mode)                                                          \
  u64 fma_f64_##suffix(u64 a, u64 b, u64 c) {                                         \
    if (const u64 nan = nan_of(b, c, a)) return nan;                                  \
    const u32 old = control(), now = mode;                                            \
    double r = f64(c);                                                                \
    asm volatile("ldmxcsr %[now]\n\tvfmadd231sd %[y], %[x], %[r]\n\tldmxcsr %[old]"   \
                 : [r] "+&x"(r)                                                       \
                 : [x] "x"(f64(a)), [y] "x"(f64(b)), [now] "m"(now), [old] "m"(old)); \
    return bits(r);                                                                   \
  }
#define US_SQRT(suffix, mode)                                                   \
  u64 sqrt_f64_##suffix(u64 a, u64, u64) {                                      \
    const u32 old = control(), now = mode;                                      \
    double r;                                                                   \
    asm volatile("ldmxcsr %[now]\n\tvsqrtsd %[x], %[x], %[r]\n\tldmxcsr %[old]" \
                 : [r] "=&x"(r)                                                 \
                 : [x] "x"(f64(a)), [now] "m"(now), [old] "m"(old));            \
    return bits(r);                                                             \
  }
#define US_FROM_S64(suffix, mode)                                                                             \
  u64 s64_to_f64_##suffix(u64 a, u64, u64) {                                                                  \
    const u32 old = control(), now = mode;                                                                    \
    double r;                                                                                                 \
    asm volatile("vxorpd %[r], %[r], %[r]\n\tldmxcsr %[now]\n\tvcvtsi2sdq %[x], %[r], %[r]\n\tldmxcsr %[old]" \
                 : [r] "=&x"(r)                                                                               \
                 : [x] "r"(a), [now] "m"(now), [old] "m"(old));                                               \
    return bits(r);                                                                                           \
  }                                                                                                           \
  u64 u64_to_f64_##suffix(u64 a, u64, u64) { /* both halves are exact: one rounding in high * 2^32 + low */   \
    const double high = static_cast<double>(static_cast<u32>(a >> 32)),                                       \
                 low = static_cast<double>(static_cast<u32>(a));                                              \
    return a ? fma_f64_##suffix(bits(high), bits(0x1p32), bits(low)) : 0;                                     \
  }
#define US_ALL(suffix, mode)                     \
  US_BINARY(add, "vaddsd", suffix, mode, (b, a)) \
  US_BINARY(sub, "vsubsd", suffix, mode, (b, a)) \
  US_BINARY(mul, "vmulsd", suffix, mode, (b, a)) \
  US_BINARY(div, "vdivsd", suffix, mode, (a, b)) \
  US_FMA(suffix, mode)                           \
  US_SQRT(suffix, mode)                          \
  US_FROM_S64(suffix, mode)
US_ALL(rz, kZero)
US_ALL(rm, kDown)
US_ALL(rp, kUp)

}  // namespace us::numerics
