// SPDX-License-Identifier: Apache-2.0
#include "memory/tensor_box.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "memory/plain_box.h"

namespace us::memory {
namespace {

constexpr u32 kChunk = 16;

u32 bytes_per_element(const TensorMap& m) { return m.element_bits() / 8; }

// Which chunk of its 128 bytes a chunk goes to: bits of the address from 7 up are added to those from 4 up.
u32 swizzled(const TensorMap& m, u32 address) {
  switch (m.swizzle) {
    case TensorMap::Swizzle32:
      return address ^ (address >> 3 & 0x10);
    case TensorMap::Swizzle64:
      return address ^ (address >> 3 & 0x30);
    case TensorMap::Swizzle128:
      return address ^ (address >> 3 & 0x70);
    default:
      return address;
  }
}

// Dimensions as a copy walks them. Of an interleaved map (NC/8HWC8, NC/16HWC16) dimension 0 is W, in steps of the 16 or
// 32 bytes of a slice of channels; dimension rank - 2 is the slice, of which a copy moves one whatever the box says; a
// row is one element.
struct Walk {
  explicit Walk(const TensorMap& m)
      : map(m), interleaved(m.interleave != TensorMap::NoInterleave), first(interleaved ? 0 : 1) {}
  const TensorMap& map;
  const bool interleaved;
  const u32 first;  // of the dimensions that lead from row to row
  u64 stride(u32 d) const { return d ? map.strides[d - 1] : row_bytes(map); }
  u32 count(u32 d) const {
    if (interleaved && d == map.rank - 2u) return 1;
    return (map.box[d] + map.element_strides[d] - 1u) / map.element_strides[d];
  }
};

// Calls f for the rows of the box in the order of shared memory, with the address of the row's element at[0], or null
// if the row is outside.
template <class F>
void for_each_row(const TensorBox& b, F f) {
  const TensorMap& m = b.map;
  const Walk walk(m);
  auto address = [&](const i64* c) -> u8* {  // of the coordinates that lead from row to row
    u64 a = m.address;
    for (u32 d = walk.first; d < m.rank; ++d) {
      if (c[d] < 0 || u64(c[d]) >= m.size(d)) return nullptr;
      a += u64(c[d]) * walk.stride(d);
    }
    return std::bit_cast<u8*>(a);
  };
  i64 c[5] = {};
  if (b.im2col()) {
    const u32 pixel = walk.first, image = m.rank - 1u, pixel_end = pixel + m.rank - 2u;
    i64 p[5] = {};
    for (u32 d = pixel; d < m.rank; ++d) p[d] = b.at[d];
    for (u32 k = 0; k < m.pixels; ++k) {
      for (u32 d = pixel; d < m.rank; ++d) c[d] = p[d] + (d < pixel_end ? b.offset[d - pixel] : 0);
      f(address(c));
      u32 d = pixel;
      for (; d < pixel_end; ++d) {  // the next pixel of the bounding box, W first, then the next image
        p[d] += m.element_strides[d];
        if (p[d] < i64(m.size(d)) + m.upper[d - pixel]) break;
        p[d] = m.lower[d - pixel];
      }
      if (d == pixel_end) p[image] += m.element_strides[image];
    }
    return;
  }
  u32 count[5] = {1, 1, 1, 1, 1}, k[5] = {};
  for (u32 d = walk.first; d < m.rank; ++d) count[d] = walk.count(d);
  for (;;) {
    for (u32 d = walk.first; d < m.rank; ++d) c[d] = i64{b.at[d]} + i64{k[d]} * m.element_strides[d];
    f(address(c));
    u32 d = walk.first;
    for (; d < m.rank; ++d) {
      if (++k[d] < count[d]) break;
      k[d] = 0;
    }
    if (d >= m.rank) return;
  }
}

u32 rows_of(const TensorMap& m) {
  if (m.mode == TensorMap::Mode::Im2col) return m.pixels;
  const Walk walk(m);
  u32 rows = 1;
  for (u32 d = walk.first; d < m.rank; ++d) rows *= walk.count(d);
  return rows;
}

// From one row to the next in shared memory.
u32 pitch(const TensorMap& m) {
  if (m.interleave != TensorMap::NoInterleave) return row_bytes(m);
  switch (m.swizzle) {
    case TensorMap::Swizzle32:
      return 32;
    case TensorMap::Swizzle64:
      return 64;
    case TensorMap::Swizzle128:
      return 128;
    default:
      return row_bytes(m);
  }
}

// The bytes of a row that lie inside the tensor: [first, end).
std::pair<u32, u32> inside(const TensorBox& b) {
  if (b.map.interleave != TensorMap::NoInterleave) return {0, row_bytes(b.map)};
  const i64 size = i64(b.map.size(0)), element = bytes_per_element(b.map), row = row_bytes(b.map);
  const i64 first = std::clamp<i64>(-i64{b.at[0]} * element, 0, row);
  return {u32(first), u32(std::clamp<i64>((size - b.at[0]) * element, first, row))};
}

i64 offset_in_row(const TensorBox& b) {
  return b.map.interleave != TensorMap::NoInterleave ? 0 : i64{b.at[0]} * bytes_per_element(b.map);
}

// f(offset in the row, place relative to the box's start, bytes) for [from, end) of the row at `row` of the box.
template <class F>
void for_each_chunk(const TensorBox& b, u32 row, u32 from, u32 end, F f) {
  if (b.map.swizzle == TensorMap::NoSwizzle) {
    if (from < end) f(from, row + from, end - from);
    return;
  }
  while (from < end) {
    const u32 address = b.shared_offset + row + from;
    const u32 bytes = std::min(kChunk - address % kChunk, end - from);
    f(from, swizzled(b.map, address) - b.shared_offset, bytes);
    from += bytes;
  }
}

// What an element outside the tensor reads as.
void fill(const TensorMap& m, u8* to, u32 bytes) {
  if (!m.nan_fill) {
    std::memset(to, 0, bytes);
    return;
  }
  for (u32 k = 0; k < bytes; ++k) to[k] = k % 2 ? 0x7f : 0xf7;  // a NaN in every type
}

// tf32 keeps 10 bits of the fraction, to nearest even. Subnormal numbers stay in the .ftz types too, as an H200 shows.
void convert(const TensorMap& m, u8* at, u32 bytes) {
  if (m.type != TensorMap::TF32 && m.type != TensorMap::TF32Ftz) return;
  for (u32 k = 0; k + 4 <= bytes; k += 4) {
    u32 v;
    std::memcpy(&v, at + k, 4);
    if ((v & 0x7fffffff) > 0x7f800000)
      v = 0x7fffe000;
    else if ((v & 0x7f800000) != 0x7f800000)
      v = (v + 0xfff + (v >> 13 & 1)) & ~0x1fffu;
    std::memcpy(at + k, &v, 4);
  }
}

}  // namespace

u32 row_bytes(const TensorMap& m) {
  if (m.interleave != TensorMap::NoInterleave) return m.interleave == TensorMap::Interleave16 ? 16 : 32;
  return (m.mode == TensorMap::Mode::Im2col ? m.channels : m.box[0]) * bytes_per_element(m);
}
u32 box_bytes(const TensorMap& m) { return row_bytes(m) * rows_of(m); }
u32 shared_bytes(const TensorMap& m) { return pitch(m) * rows_of(m); }

const char* unusable(const TensorMap& m, u32 dimensions, bool im2col) {
  if (m.magic != TensorMap::kMagic) return "the address is not that of a tensor map";
  if (m.rank != dimensions) return "the instruction's number of dimensions is not the tensor map's";
  if (im2col != (m.mode == TensorMap::Mode::Im2col))
    return im2col ? "an im2col copy needs a tensor map of im2col mode" : "a tile copy needs a tensor map of tiled mode";
  if (m.element_bits() < 8 || m.swizzle > TensorMap::Swizzle128) return "formats of sm_100 are not implemented";
  return nullptr;
}

void load_box(const TensorBox& b, u8* shared) {
  if (load_plain_box(b, shared)) return;
  const auto [first, end] = inside(b);
  const u32 bytes = row_bytes(b.map);
  const i64 before = offset_in_row(b);
  u32 row = 0;
  for_each_row(b, [&, first = first, end = end](const u8* from) {
    const u32 begin = from ? first : bytes, stop = from ? end : bytes;
    for_each_chunk(b, row, 0, begin, [&](u32, u32 to, u32 n) { fill(b.map, shared + to, n); });
    for_each_chunk(b, row, begin, stop, [&](u32 at, u32 to, u32 n) {
      std::memcpy(shared + to, from + before + at, n);
      convert(b.map, shared + to, n);
    });
    for_each_chunk(b, row, stop, bytes, [&](u32, u32 to, u32 n) { fill(b.map, shared + to, n); });
    row += pitch(b.map);
  });
}

void for_each_piece(const TensorBox& b, const u8* shared, const std::function<void(u8*, const u8*, u32)>& f) {
  const auto [first, last] = inside(b);
  const u32 end =
      std::min((last + kChunk - 1) / kChunk * kChunk, row_bytes(b.map));  // whole chunks, as an H200 writes them
  const i64 before = offset_in_row(b);
  u32 row = 0;
  for_each_row(b, [&, first = first](u8* to) {
    if (to) for_each_chunk(b, row, first, end, [&](u32 at, u32 from, u32 n) { f(to + before + at, shared + from, n); });
    row += pitch(b.map);
  });
}

void store_box(const TensorBox& b, const u8* shared) {
  if (store_plain_box(b, shared)) return;
  for_each_piece(b, shared, [](u8* to, const u8* from, u32 n) { std::memcpy(to, from, n); });
}

}  // namespace us::memory
