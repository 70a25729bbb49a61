// SPDX-License-Identifier: Apache-2.0
#include "numerics/approx.h"

#include <array>

namespace us::numerics {
namespace {

struct Row {
  Approx function;
  i64 c0, c1, c2;  // c0 in grains
};
constexpr Row kRows[] = {
#define US_APPROX(function, c0, c1, c2) {Approx::function, c0, c1, c2},
#include "numerics/approx_coefficients.inc"
#undef US_APPROX
};

struct Entries {
  std::array<u32, kApproxEntries> start{}, slopes{};
};
constexpr Entries derive(Approx function) {
  const ApproxFacts f = facts(function);
  const u32 parts = f.x_bits == 17 && !f.halves ? 2 : 1;
  Entries out;
  std::size_t n = 0;
  for (const Row& r : kRows) {
    if (r.function != function) continue;
    for (u32 part = 0; part < parts; ++part, ++n) {
      const i64 start = r.c0 + (r.c1 * (1 + 2 * part) - f.slope * (i64{1} << 15)) * (i64{1} << (15 - f.grain));
      const i64 slope = r.c1 - f.slope * 32768;
      if (slope != static_cast<i16>(slope) || r.c2 != static_cast<i16>(r.c2)) US_UNREACHABLE();
      out.start[n] = static_cast<u32>(start);
      out.slopes[n] = static_cast<u16>(slope) | static_cast<u32>(r.c2) << 16;
    }
  }
  return out;
}
template <Approx F>
ApproxTable table() {
  static constexpr Entries entries = derive(F);
  return {entries.start, entries.slopes};
}

constexpr std::array<u32, 16> binades() {
  std::array<u32, 16> out{};
  for (u32 k = 0; k < 16; ++k) {
    const TanhBinade& b = kTanhBinades[k < 11 ? k : 10];
    const int scale = static_cast<int>(k) - 8 - 23 - b.unit;  // value = sum * 2^scale
    out[k] = b.segment | (6u - b.doubling) << 8 | static_cast<u32>(scale) << 16;
  }
  return out;
}

}  // namespace

ApproxTable approx_table(Approx function) {
  switch (function) {
    case Approx::Rcp:
      return table<Approx::Rcp>();
    case Approx::Rsqrt:
      return table<Approx::Rsqrt>();
    case Approx::Sqrt:
      return table<Approx::Sqrt>();
    case Approx::Ex2:
      return table<Approx::Ex2>();
    case Approx::Lg2:
      return table<Approx::Lg2>();
    case Approx::Sin:
      return table<Approx::Sin>();
    case Approx::Tanh:
      return table<Approx::Tanh>();
  }
  US_UNREACHABLE();
}
std::span<const u32> tanh_binades() {
  static constexpr std::array<u32, 16> table = binades();
  return table;
}

}  // namespace us::numerics
