// SPDX-License-Identifier: Apache-2.0
#include "memory/compression.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace us::memory {
namespace {

// Bits that hold every one of `all` as a signed number: `all` is the or of (v < 0 ? ~v : v).
u32 signed_width(u64 all) { return all == 0 ? 1 : static_cast<u32>(std::bit_width(all)) + 1; }

template <class T>
LineCode encode_as(const u8* line) {
  constexpr u32 count = kLine / sizeof(T), bits = 8 * sizeof(T);
  T v[count];
  std::memcpy(v, line, kLine);
  std::make_signed_t<T> d[count];
  T any = 0;
  for (u32 i = 0; i < count; ++i) {
    d[i] = static_cast<std::make_signed_t<T>>(static_cast<T>(v[i] - v[0]));
    any = static_cast<T>(any | static_cast<T>(d[i]));
  }
  LineCode c{.element = sizeof(T), .shift = 0, .width = 0, .base = v[0]};
  if (any) {
    c.shift = static_cast<u32>(std::countr_zero(any));
    u64 all = 0;
    for (const auto x : d) {
      const i64 s = static_cast<i64>(x) >> c.shift;
      all |= static_cast<u64>(s < 0 ? ~s : s);
    }
    c.width = std::min(signed_width(all), bits);
  }
  c.bits = bits + 12 + (count - 1) * c.width;
  return c;
}

}  // namespace

LineCode encode_line(const u8* line) {
  const LineCode codes[] = {encode_as<u32>(line), encode_as<u64>(line), encode_as<u16>(line)};
  return *std::min_element(std::begin(codes), std::end(codes),
                           [](const LineCode& a, const LineCode& b) { return a.bits < b.bits; });
}

Compressibility measure_compression(std::span<const u8> bytes) {
  Compressibility c;
  c.lines = bytes.size() / kLine;
  for (u64 i = 0; i < c.lines; ++i) {
    const u32 factor = encode_line(bytes.data() + i * kLine).factor();
    ++c.by_factor[factor == 4 ? 2 : factor == 2 ? 1 : 0];
  }
  return c;
}

}  // namespace us::memory
