// SPDX-License-Identifier: Apache-2.0
#include "memory/plain_box.h"

#include <bit>
#include <cstring>

namespace us::memory {
namespace {

bool is_plain(const TensorBox& b) {
  const TensorMap& m = b.map;
  if (b.im2col() || m.interleave != TensorMap::NoInterleave || m.swizzle != TensorMap::NoSwizzle ||
      m.type == TensorMap::TF32 || m.type == TensorMap::TF32Ftz)
    return false;
  for (u32 d = 0; d < m.rank; ++d)
    if (b.at[d] < 0 || u64(b.at[d]) + m.box[d] > m.size(d) || (d && m.element_strides[d] != 1)) return false;
  return true;
}

// f(row of the tensor, row of the box), dimension 1 first.
template <class F>
void for_each_row(const TensorBox& b, u32 bytes, F f) {
  const TensorMap& m = b.map;
  u64 start = m.address + u64(b.at[0]) * (m.element_bits() / 8);
  u32 count[5] = {1, 1, 1, 1, 1};
  u64 stride[5] = {};
  for (u32 d = 1; d < m.rank; ++d) {
    count[d] = m.box[d], stride[d] = m.strides[d - 1];
    start += u64(b.at[d]) * stride[d];
  }
  u64 place = 0;
  for (u32 i = 0; i < count[4]; ++i)
    for (u32 j = 0; j < count[3]; ++j)
      for (u32 k = 0; k < count[2]; ++k) {
        u8* row = std::bit_cast<u8*>(start + i * stride[4] + j * stride[3] + k * stride[2]);
        for (u32 l = 0; l < count[1]; ++l, row += stride[1], place += bytes) f(row, place);
      }
}

}  // namespace

bool load_plain_box(const TensorBox& b, u8* shared) {
  if (!is_plain(b)) return false;
  const u32 bytes = row_bytes(b.map);
  for_each_row(b, bytes, [=](const u8* row, u64 place) { std::memcpy(shared + place, row, bytes); });
  return true;
}

bool store_plain_box(const TensorBox& b, const u8* shared) {
  if (!is_plain(b)) return false;
  const u32 bytes = row_bytes(b.map);
  for_each_row(b, bytes, [=](u8* row, u64 place) { std::memcpy(row, shared + place, bytes); });
  return true;
}

}  // namespace us::memory
