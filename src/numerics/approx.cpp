// SPDX-License-Identifier: Apache-2.0
#include "numerics/approx.h"

#include <array>

namespace us::numerics {
namespace {

struct Row {
  Approx function;
  i64 c0, c1, c2;
};
constexpr Row kRows[] = {
#define US_APPROX(function, c0, c1, c2) {Approx::function, c0, c1, c2},
#include "numerics/approx_coefficients.inc"
#undef US_APPROX
};

constexpr i64 kMaxSquare = 0x7fff;  // bound of S

// The split of one segment: the part of the sum that is the same for every x, less what keeps `low` positive.
template <std::size_t N>
constexpr std::array<u32, N> derive(Approx function, Part part) {
  const ApproxFacts f = facts(function);
  std::array<u32, N> out{};
  std::size_t n = 0;
  for (const Row& r : kRows) {
    if (r.function != function) continue;
    const i64 at_end = r.c0 + r.c1 * ((i64{1} << f.x_bits) - 1) + r.c2 * kMaxSquare;
    const bool sqrt_odd = function == Approx::Sqrt && n >= N / 2;  // these count in smaller units
    const u32 fraction = f.fraction + (sqrt_odd ? 1 : 0);
    i64 lowest = r.c0 < at_end ? r.c0 : at_end, start = r.c0;
    if (f.halved) lowest >>= 1, start >>= 1;
    const i64 high = (lowest >> fraction) - 1;
    const u32 c2 = static_cast<u32>(function == Approx::Lg2 ? r.c2 * 2 + (r.c0 & 1) : r.c2);
    out[n++] = part == Part::High  ? static_cast<u32>(high)
               : part == Part::Low ? static_cast<u32>(start - (high << fraction))
                                   : static_cast<u32>(r.c1 < 0 ? -r.c1 : r.c1) | c2 << 16;
  }
  return out;
}
template <Approx F, std::size_t N>
std::span<const u32> pick(Part p) {
  static constexpr std::array<u32, N> high = derive<N>(F, Part::High), low = derive<N>(F, Part::Low),
                                      slopes = derive<N>(F, Part::Slopes);
  return p == Part::High ? high : p == Part::Low ? low : slopes;
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

std::span<const u32> approx_table(Approx function, Part part) {
  switch (function) {
    case Approx::Rcp:
      return pick<Approx::Rcp, 128>(part);
    case Approx::Rsqrt:
      return pick<Approx::Rsqrt, 128>(part);
    case Approx::Sqrt:
      return pick<Approx::Sqrt, 128>(part);
    case Approx::Ex2:
      return pick<Approx::Ex2, 64>(part);
    case Approx::Lg2:
      return pick<Approx::Lg2, 64>(part);
    case Approx::Sin:
      return pick<Approx::Sin, 64>(part);
    case Approx::Tanh:
      return pick<Approx::Tanh, 64>(part);
  }
  US_UNREACHABLE();
}
std::span<const u32> tanh_binades() {
  static constexpr std::array<u32, 16> table = binades();
  return table;
}

}  // namespace us::numerics
