// SPDX-License-Identifier: Apache-2.0
// How well the contents of compressible memory compress. Hardware keeps a line of 128 bytes in 1, 2 or 4 sectors of 32
// bytes; which lines fit is not published. Our rule: a line is a row of equal elements of 2, 4 or 8 bytes,
//
//   element i = base + (delta i << shift),   delta i a signed number of `width` bits, base = element 0
//
// and takes  8 element + 6 + 6 + (elements - 1) width  bits: the base, the shift, the width, the deltas. Of the three
// sizes of elements the one that takes the fewest bits counts. At most 256 bits: four to one. At most 512: two to one.
// Otherwise the line is kept as it is. Nothing is lost: base, shift, width and deltas give the line back.
#pragma once
#include <span>

#include "base/types.h"

namespace us::memory {

inline constexpr u32 kLine = 128;

struct LineCode {
  u32 element = 4;            // bytes
  u32 shift = 0, width = 64;  // bits
  u64 base = 0;
  u32 bits = kLine * 8;  // of the whole code; at least those of the line: not compressed
  u32 factor() const { return bits <= 256 ? 4 : bits <= 512 ? 2 : 1; }
};
LineCode encode_line(const u8* line);

struct Compressibility {
  u64 lines = 0;
  u64 by_factor[3] = {0, 0, 0};  // lines that are kept 1:1, 2:1, 4:1
  u64 bytes_moved() const { return 128 * by_factor[0] + 64 * by_factor[1] + 32 * by_factor[2]; }
};
// Whole lines only.
Compressibility measure_compression(std::span<const u8>);

}  // namespace us::memory
