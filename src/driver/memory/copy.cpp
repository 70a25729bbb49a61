// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/copy.h"

#include <algorithm>
#include <cstring>

namespace us::driver {
namespace {

template <class T>
T* at(u64 address) {
  return reinterpret_cast<T*>(address);
}

template <class T>
void fill_row(u64 dst, u64 count, u32 value) {
  std::fill_n(at<T>(dst), count, static_cast<T>(value));
}

void fill_row(const Fill& f, u64 dst) {
  if (f.element == 1)
    std::memset(at<void>(dst), static_cast<int>(f.value), f.width);
  else if (f.element == 2)
    fill_row<u16>(dst, f.width, f.value);
  else
    fill_row<u32>(dst, f.width, f.value);
}

}  // namespace

void run(const Copy& c) {
  const bool flat = c.height * c.depth == 1;
  const bool dense = c.depth == 1 && c.dst_pitch == c.width && c.src_pitch == c.width;
  if (flat || dense) {
    std::memmove(at<void>(c.dst), at<void>(c.src), c.width * c.height);
    return;
  }
  for (u64 z = 0; z < c.depth; ++z)
    for (u64 y = 0; y < c.height; ++y)
      std::memmove(at<void>(c.dst + z * c.dst_slice + y * c.dst_pitch),
                   at<void>(c.src + z * c.src_slice + y * c.src_pitch), c.width);
}

void run(const Fill& f) {
  for (u64 z = 0; z < f.depth; ++z)
    for (u64 y = 0; y < f.height; ++y) fill_row(f, f.dst + z * f.slice + y * f.pitch);
}

}  // namespace us::driver
