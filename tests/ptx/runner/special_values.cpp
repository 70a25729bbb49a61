// SPDX-License-Identifier: Apache-2.0
#include "special_values.h"

namespace ptx_test {
namespace {

using u64 = std::uint64_t;

bool starts(const std::string& s, const char* with) { return s.rfind(with, 0) == 0; }
bool packed(const std::string& t) { return t.size() > 2 && t.substr(t.size() - 2) == "x2"; }
std::string element(const std::string& t) { return packed(t) ? t.substr(0, t.size() - 2) : t; }
unsigned width(const std::string& t) {
  unsigned n = 0;
  for (char c : t)
    if (c >= '0' && c <= '9')
      n = n * 10 + static_cast<unsigned>(c - '0');
    else if (n)
      break;
  return n;
}
struct Layout {
  unsigned bits, mantissa;
};
bool is_float(const std::string& t) { return starts(t, "f") || starts(t, "bf"); }
Layout layout(const std::string& t) {
  if (t == "f64") return {64, 52};
  if (t == "f32") return {32, 23};
  return t == "bf16" ? Layout{16, 7} : Layout{16, 10};
}

std::vector<u64> floats(Layout f) {
  const u64 sign = u64(1) << (f.bits - 1), unit = u64(1) << f.mantissa,
            inf = ((u64(1) << (f.bits - 1 - f.mantissa)) - 1) << f.mantissa;
  const u64 one = (inf >> 1) & ~(unit - 1);
  const std::vector<u64> positive = {0,
                                     1,
                                     unit - 1,
                                     unit,
                                     unit + 1,
                                     one,
                                     one + 1,
                                     one - 1,
                                     one + unit,
                                     inf - 1,
                                     inf,
                                     inf | 1,
                                     inf | unit >> 1 | 5,
                                     one + unit / 2,
                                     one - unit,
                                     one + 5 * unit + unit / 4,
                                     inf - unit * 2,
                                     unit * 20 + 3};
  std::vector<u64> out;
  for (u64 v : positive) out.push_back(v), out.push_back(v | sign);
  return out;
}
std::vector<u64> integers(unsigned bits) {
  const u64 top = u64(1) << (bits - 1), all = top | (top - 1), half = u64(1) << (bits / 2);
  return {0,
          1,
          2,
          3,
          7,
          31,
          32,
          33,
          top - 1,
          top,
          top + 1,
          all,
          all - 1,
          half,
          half - 1,
          half + 1,
          half >> 1,
          all ^ half,
          0x55555555aaaaaaaaull & all,
          0x80ff7f0180ff7f01ull & all,
          0x123456789abcdef0ull & all,
          all - 30,
          all / 3,
          top / 3 + 1};
}

u64 random_float(Layout f, Random& r) {
  const u64 v = r.next(), mask = f.bits == 64 ? ~u64(0) : (u64(1) << f.bits) - 1;
  const unsigned exponent_bits = f.bits - 1 - f.mantissa;
  if (v & 7) {  // mostly near one
    const u64 bias = (u64(1) << (exponent_bits - 1)) - 1, span = exponent_bits > 5 ? 24 : 12;
    const u64 e = bias - span / 2 + r.next() % span, m = r.next() & ((u64(1) << f.mantissa) - 1);
    return (v >> 63) << (f.bits - 1) | e << f.mantissa | (v & 8 ? m : m & ~((u64(1) << f.mantissa / 2) - 1));
  }
  return r.next() & mask;
}
u64 random_integer(unsigned bits, Random& r) {
  const u64 v = r.next(), shape = r.next(), mask = bits == 64 ? ~u64(0) : (u64(1) << bits) - 1;
  const unsigned keep = shape & 3 ? bits : 1 + static_cast<unsigned>(shape >> 8) % bits;
  const u64 low = keep == 64 ? v : v & ((u64(1) << keep) - 1);
  return (shape & 4 ? low : ~low) & mask;
}
u64 random_element(const std::string& t, Random& r) {
  return is_float(t) ? random_float(layout(t), r) : random_integer(width(t), r);
}

}  // namespace

std::vector<u64> special_values(const std::string& type) {
  const std::string t = element(type);
  return is_float(t) ? floats(layout(t)) : integers(width(t));
}

u64 random_value(const std::string& type, Random& r) {
  const std::string t = element(type);
  const u64 low = random_element(t, r);
  return packed(type) ? low | random_element(t, r) << 16 : low;
}

u64 cross_value(const std::string& type, std::size_t k, unsigned which, unsigned of, Random& r) {
  const std::vector<u64> all = special_values(type);
  const std::size_t n = of < 3 ? all.size() : 14;  // of three operands, a part: combinations grow fast
  auto pick = [&](std::size_t at) {
    std::size_t total = 1, stride = 1;
    for (unsigned o = 0; o < of; ++o) total *= n;
    for (unsigned o = 0; o < which; ++o) stride *= n;
    if (at >= total) return random_element(element(type), r);
    const std::size_t index = at / stride % n;
    return all[of < 3 ? index : index * 5 % all.size()];
  };
  const u64 low = pick(k);
  if (!packed(type)) return low;
  return low | pick(k * 7 + 3) << 16;
}

}  // namespace ptx_test
