// SPDX-License-Identifier: Apache-2.0
// Reads of texture objects, from coordinates to texels. Coordinates are fixed-point numbers as in the texture unit
// (measured on an H200):
//   normalised     floor(x * 2^21), then times the size (2^22 for more than 8192 texels)
//   for a filter   8 fraction bits, the nearest; half a texel less; clamp cuts to the middle of the outer texels
//   for a point    floor
//   1-D            the row y = 0 of a 2-D texture of one row, with its own address mode (layered: no border above it)
#pragma once
#include <vector>

#include "memory/texel.h"

namespace us::memory {

// What one thread asks for. Unused coordinates are 0.
struct TextureRead {
  float at[3] = {0, 0, 0};    // x y z
  i32 texel[3] = {0, 0, 0};   // the same for integer coordinates
  u32 layer = 0;              // of layered shapes
  i32 offset[3] = {0, 0, 0};  // in texels
  float lod = 0;
  i32 texel_level = 0;                        // with integer coordinates
  bool integer = false, level = false;        // level: lod counts; otherwise level 0
  std::vector<const u8*>* touched = nullptr;  // gets the texels that are read, if somebody wants to know
};

Texel sample(const TextureObject&, const TextureRead&);
// Channel `component` of the four texels that a filter would use: below left, below right, above right, above left.
Texel gather(const TextureObject&, const TextureRead&, u32 component);
// The level of detail of a read whose neighbours are (dx, dy) away, components in the unit of the coordinates.
float level_of_gradients(const TextureObject&, const float dx[3], const float dy[3]);

}  // namespace us::memory
