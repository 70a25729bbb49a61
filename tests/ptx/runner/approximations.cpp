// SPDX-License-Identifier: Apache-2.0
#include "runner/approximations.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace ptx_test {
namespace {

struct Format {
  int bits, exponent, mantissa;
};
Format format_of(const std::string& t) {
  if (t == "f64") return {64, 11, 52};
  if (t == "f32") return {32, 8, 23};
  return t.rfind("bf16", 0) == 0 ? Format{16, 8, 7} : Format{16, 5, 10};
}
long double decode(std::uint64_t v, Format f) {
  const int bias = (1 << (f.exponent - 1)) - 1, top = (1 << f.exponent) - 1,
            e = static_cast<int>(v >> f.mantissa) & top;
  const std::uint64_t m = v & ((std::uint64_t(1) << f.mantissa) - 1);
  const bool negative = v >> (f.bits - 1) & 1;
  long double r =
      e == top ? (m ? std::numeric_limits<long double>::quiet_NaN() : std::numeric_limits<long double>::infinity())
      : e == 0 ? std::ldexp(static_cast<long double>(m), 1 - bias - f.mantissa)
               : std::ldexp(static_cast<long double>(m | std::uint64_t(1) << f.mantissa), e - bias - f.mantissa);
  return negative ? -r : r;
}
long double smallest_normal(Format f) { return std::ldexp(1.0L, 2 - (1 << (f.exponent - 1))); }
long double largest(Format f) { return std::ldexp(2.0L - std::ldexp(1.0L, -f.mantissa), (1 << (f.exponent - 1)) - 1); }
long double unit(long double v, Format f) {
  int e;
  std::frexp(v, &e);
  return std::ldexp(1.0L, std::max(e - 1, 2 - (1 << (f.exponent - 1))) - f.mantissa);
}

struct Expected {
  long double value;
  bool bounded = true;  // the ISA gives a bound here
};
Expected reference(const std::string& fn, long double a, long double b) {
  const long double two_pi = 6.283185307179586477L;
  if (fn == "sin") return {a == 0 ? a : std::sin(a), std::fabs(a) <= two_pi || !std::isfinite(a)};
  if (fn == "cos") return {std::cos(a), std::fabs(a) <= two_pi || !std::isfinite(a)};
  if (fn == "lg2") return {std::log2(a)};
  if (fn == "ex2") return {std::exp2(a)};
  if (fn == "tanh") return {std::tanh(a)};
  if (fn == "rcp") return {1 / a};
  if (fn == "sqrt") return {std::sqrt(a)};
  if (fn == "rsqrt") return {1 / std::sqrt(a)};
  const long double m = std::fabs(b);
  return {a / b, !(m > 0x1p126L && m < 0x1p128L) && (m >= 0x1p-126L || m == 0)};
}

bool inside(const std::string& bound, long double got, long double want, Format f) {
  const auto eq = bound.find('=');
  const long double limit = std::strtold(bound.c_str() + eq + 1, nullptr), error = std::fabs(got - want);
  const long double last_place = std::fabs(want) < smallest_normal(f) ? unit(0, f) : 0;  // one rounding of a subnormal
  if (bound.rfind("ulp", 0) == 0) return error <= limit * unit(want, f) * 1.0000001L + last_place;
  if (bound.rfind("abs", 0) == 0) return error <= std::exp2(limit);
  if (bound.rfind("lg2", 0) == 0 && std::fabs(want) < 1) return error <= std::exp2(limit);
  return error <= std::exp2(limit) * std::fabs(want) + last_place;
}
bool acceptable(const std::string& bound, bool ftz, long double got, Expected want, Format f) {
  if (!want.bounded) return true;
  if (std::isnan(want.value)) return std::isnan(got);
  if (std::isnan(got)) return false;
  if (ftz && std::fabs(want.value) < smallest_normal(f)) {
    return std::fabs(got) <= smallest_normal(f) * 1.000001L;
  }
  if (std::fabs(want.value) > largest(f)) return got == want.value || std::fabs(got) >= largest(f);
  if (std::isinf(got)) return std::fabs(want.value) >= largest(f) * (1 - 0x1p-6L);
  if (want.value == 0 && got == 0) return std::signbit(want.value) == std::signbit(got) || bound.rfind("abs", 0) == 0;
  return inside(bound, got, want.value, f);
}

}  // namespace

std::string check_bounds(const Case& c, const Array& out, const std::vector<std::uint8_t>& got) {
  std::istringstream in(out.spec);
  std::string word, fn, bound;
  in >> word >> fn >> bound;
  const bool ftz = out.spec.find(" ftz") != std::string::npos, packed = out.type.find("x2") != std::string::npos;
  const Format f = format_of(out.type);
  std::vector<std::vector<std::uint8_t>> inputs;
  for (const Array& a : c.arrays)
    if (a.role == Array::Role::In) inputs.push_back(initial(a));
  const std::size_t n = static_cast<std::size_t>(f.bits) / 8;
  for (std::size_t k = 0; k < got.size() / n; ++k) {
    auto operand = [&](const std::vector<std::uint8_t>& from) {
      std::uint64_t v = 0;
      std::memcpy(&v, &from[k * n], n);
      if (ftz && n == 8) v &= ~0xffffffffull;  // such forms read the upper half only
      const long double x = decode(v, f);
      return ftz && std::fabs(x) < smallest_normal(f) ? std::copysign(0.0L, x) : x;
    };
    std::uint64_t bits = 0;
    std::memcpy(&bits, &got[k * n], n);
    const long double a = operand(inputs[0]), b = inputs.size() > 1 ? operand(inputs[1]) : 0;
    const Expected want = reference(fn, a, b);
    if (acceptable(bound, ftz, decode(bits, f), want, f)) continue;
    std::ostringstream s;
    s.precision(12);
    s << out.name << (packed ? " half " : " element ") << k << ": " << fn << "(" << a << ", " << b << ") gave "
      << decode(bits, f) << ", wanted " << want.value << " within " << bound;
    return s.str();
  }
  return "";
}

}  // namespace ptx_test
