// SPDX-License-Identifier: Apache-2.0
// What texture and surface instructions tell the runtime functions, packed into one word.
#pragma once
#include "base/types.h"

namespace us::device {

enum class Geometry : u8 { D1, D2, D3, A1, A2, Cube, ACube };

struct TextureCode {
  Geometry geometry = Geometry::D2;
  bool integer = false;  // coordinates
  bool level = false;
  bool gather = false;
  u8 component = 0;  // of gather

  u32 pack() const {
    return static_cast<u32>(geometry) | u32{integer} << 3 | u32{level} << 4 | u32{gather} << 5 | u32{component} << 6;
  }
  static TextureCode unpack(u64 w) {
    return {static_cast<Geometry>(w & 7), (w & 8) != 0, (w & 16) != 0, (w & 32) != 0, static_cast<u8>(w >> 6 & 3)};
  }
};

enum class TextureQuery : u8 {
  Width,
  Height,
  Depth,
  ChannelDataType,
  ChannelOrder,
  NormalizedCoords,
  FilterMode,
  AddrMode0,
  AddrMode1,
  AddrMode2,
  ArraySize,
  MipmapLevels,
  Samples,
  MemoryLayout,
  IsTexture,  // istypep
  IsSurface
};

enum class Bounds : u8 { Trap, Clamp, Zero };
enum class SurfaceOp : u8 { Add, Min, Max, And, Or };

struct SurfaceCode {
  Geometry geometry = Geometry::D2;
  Bounds bounds = Bounds::Trap;
  u8 bytes = 4;            // of one element
  u8 count = 1;            // elements
  bool formatted = false;  // .p: x counts texels and data is converted; otherwise x counts bytes
  SurfaceOp op = SurfaceOp::Add;
  bool is_signed = false;

  u32 pack() const {
    return static_cast<u32>(geometry) | static_cast<u32>(bounds) << 3 | u32{bytes} << 5 | u32{count} << 9 |
           u32{formatted} << 12 | static_cast<u32>(op) << 13 | u32{is_signed} << 16;
  }
  static SurfaceCode unpack(u64 w) {
    return {static_cast<Geometry>(w & 7), static_cast<Bounds>(w >> 3 & 3),
            static_cast<u8>(w >> 5 & 15), static_cast<u8>(w >> 9 & 7),
            (w & 1u << 12) != 0,          static_cast<SurfaceOp>(w >> 13 & 7),
            (w & 1u << 16) != 0};
  }
};

}  // namespace us::device
