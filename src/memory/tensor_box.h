// SPDX-License-Identifier: Apache-2.0
// The box of a tensor that one bulk tensor copy moves (PTX ISA, "Tensors"): where each piece of it lies in the tensor's
// memory and in shared memory. In shared memory elements follow each other densely, the innermost dimension first; a
// swizzle then exchanges the 16-byte chunks of each 128 bytes by the bits of their address. A swizzle's rows are as far
// apart as its span, even when they are shorter.
#pragma once
#include <functional>

#include "memory/tensor_map.h"

namespace us::memory {

struct TensorBox {
  TensorMap map;
  // Element coordinates, innermost dimension first. Im2col: channel, pixel (W, H, D), image; interleaved: pixel, slice,
  // image.
  i32 at[5] = {};
  u16 offset[3] = {};     // Im2col: of the filter's tap, W first
  u32 shared_offset = 0;  // of the box in shared memory; its low bits take part in the swizzle
  bool im2col() const { return map.mode == TensorMap::Mode::Im2col; }
};

// Bytes of a row of the innermost dimension (interleaved: of an element of a slice of channels), of the whole box, and
// of the shared memory it lies in.
u32 row_bytes(const TensorMap&);
u32 box_bytes(const TensorMap&);
u32 shared_bytes(const TensorMap&);
// Null if a copy with this map can be made; else what is wrong, or not implemented, with it.
const char* unusable(const TensorMap&, u32 dimensions, bool im2col);

// Tensor -> shared memory; `shared` is the box's start. Elements outside the tensor are filled as the map says.
void load_box(const TensorBox&, u8* shared);
// Shared memory -> tensor; 16 bytes of a row that begin outside the tensor are not written.
void store_box(const TensorBox&, const u8* shared);
// The same for reductions: f(where in the tensor, where in shared memory, bytes).
void for_each_piece(const TensorBox&, const u8* shared, const std::function<void(u8*, const u8*, u32)>& f);

}  // namespace us::memory
