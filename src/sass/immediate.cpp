// SPDX-License-Identifier: Apache-2.0
#include "sass/immediate.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace us::sass {
namespace {

std::string infinite_or(double v, u64 bits, u64 sign, std::string finite) {
  if (std::isinf(v)) return v < 0 ? "-INF" : "+INF";
  if (std::isnan(v)) return bits & sign ? "-QNAN" : "+QNAN";
  return finite;
}

std::string shortest(double v, const char* zeros) {
  if (v == 0) return std::signbit(v) ? zeros : "0";
  return std::abs(v) >= 1e9 ? fmt::format("{:.20e}", v) : fmt::format("{:.20g}", v);
}

}  // namespace

std::string hex(i64 v) { return v < 0 ? fmt::format("-0x{:x}", -static_cast<u64>(v)) : fmt::format("0x{:x}", v); }

std::string float_text(u32 bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  if (std::isnan(f)) return fmt::format("{}{}NAN", bits >> 31 ? '-' : '+', bits >> 22 & 1 ? 'Q' : 'S');
  return infinite_or(f, bits, 1u << 31, shortest(f, "-0.0"));
}

std::string double_text(u32 high) {
  const u64 bits = u64{high} << 32;
  double d;
  std::memcpy(&d, &bits, 8);
  if (std::isnan(d)) return fmt::format("{}{}NAN", high >> 31 ? '-' : '+', high >> 19 & 1 ? 'Q' : 'S');
  return infinite_or(d, bits, u64{1} << 63, shortest(d, "-0.0"));
}

std::string half_text(u32 bits, bool bf16) {
  float f;
  u32 wide = bits << 16;
  if (!bf16) {
    const u32 sign = bits >> 15 << 31, exponent = bits >> 10 & 31, mantissa = bits & 1023;
    if (exponent == 31) {
      wide = sign | 0xffu << 23 | mantissa << 13;
    } else {
      f = std::ldexp(static_cast<float>(exponent ? mantissa | 1024 : mantissa),
                     static_cast<int>(exponent ? exponent : 1) - 25);
      std::memcpy(&wide, &f, 4);
      wide |= sign;
    }
  }
  std::memcpy(&f, &wide, 4);
  if (std::isnan(f)) return fmt::format("{}QNAN", bits >> 15 ? '-' : '+');
  if (std::isinf(f)) return bits >> 15 ? "-INF" : "+INF";
  return shortest(f, "-0.0");
}

}  // namespace us::sass
