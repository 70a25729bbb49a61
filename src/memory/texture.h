// SPDX-License-Identifier: Apache-2.0
// What a 64-bit texture or surface handle stands for. Handles come from kernels, which may pass any number: a handle is
// valid if it is the address of a slot of the TextureTable whose `magic` says that an object of the kind lives there.
// Slots lie in one mapped range, so the test reads nothing but slots and takes no lock. Any other number is an illegal
// address.
//
//   texel (x, y, z) of a level = data + z * slice + y * pitch + x * texel_bytes()
//   z is the depth (D3), the layer (layered), the face (Cube: +x -x +y -y +z -z) or layer * 6 + face (CubeLayered)
#pragma once
#include <array>
#include <deque>
#include <mutex>
#include <unordered_set>

#include "base/types.h"

namespace us::memory {

enum class TexelType : u8 {
  U8,
  U16,
  U32,
  S8,
  S16,
  S32,
  F16,
  F32,
  Unorm8,  // the normalised formats: always read as floating point
  Unorm16,
  Snorm8,
  Snorm16,
};

struct TexelFormat {
  TexelType type = TexelType::U8;
  u8 channels = 1;  // 1, 2 or 4
  u32 channel_bytes() const;
  u32 texel_bytes() const { return channel_bytes() * channels; }
  bool floating() const { return type == TexelType::F16 || type == TexelType::F32; }
  bool normalised() const { return type >= TexelType::Unorm8; }
  bool operator==(const TexelFormat&) const = default;
};

enum class TextureShape : u8 {
  Linear,  // texels of linear memory, fetched by integer coordinate; no filter, no address mode
  D1,
  D2,
  D3,
  D1Layered,
  D2Layered,
  Cube,
  CubeLayered,
};

enum class AddressMode : u8 { Wrap, Clamp, Mirror, Border };  // CUaddress_mode's numbers
enum class FilterMode : u8 { Point, Linear };                 // CUfilter_mode's numbers

struct TextureLevel {
  u64 data = 0;
  u32 width = 1, height = 1, depth = 1;  // texels; depth counts what z counts
  u64 pitch = 0, slice = 0;              // bytes between rows, between values of z
};

struct TextureObject;
struct WarpRead;
struct WarpTexels;
using WarpSampler = u32 (*)(const TextureObject&, const WarpRead&, WarpTexels&);  // warp_sample.h

struct TextureObject {
  static constexpr u32 kTexture = 0x55545801, kSurface = 0x55535501;
  static constexpr u32 kMaxLevels = 17;

  u32 magic = 0;  // kTexture, kSurface; anything else: no object
  TextureShape shape = TextureShape::D2;
  TexelFormat format;
  bool gather = false;  // the array was made for tld4

  // Textures only.
  std::array<AddressMode, 3> address{AddressMode::Clamp, AddressMode::Clamp, AddressMode::Clamp};
  FilterMode filter = FilterMode::Point;
  FilterMode mip_filter = FilterMode::Point;
  bool read_normalised = false;  // 8- and 16-bit integers are read as [0, 1] or [-1, 1]
  bool normalised_coords = false;
  bool srgb = false;
  bool seamless_cube = false;
  bool trilinear_optimisation = true;
  u32 max_anisotropy = 0;
  float level_bias = 0, min_level = 0, max_level = 0;  // of mipmapped arrays
  float border[4] = {0, 0, 0, 0};

  u32 level_count = 1;                           // those of the view: level[0] is the finest that can be read
  std::array<TextureLevel, kMaxLevels> level{};  // surfaces have one
  // How a warp reads it, picked by TextureTable::add: with floating-point coordinates, with integer ones.
  // Null: lane by lane.
  WarpSampler sample_warp = nullptr, fetch_warp = nullptr;

  bool layered() const {
    return shape == TextureShape::D1Layered || shape == TextureShape::D2Layered || shape == TextureShape::CubeLayered;
  }
  bool cube() const { return shape == TextureShape::Cube || shape == TextureShape::CubeLayered; }
  // What a read yields: floating point, or the channel's integer type.
  bool reads_float() const { return read_normalised || format.floating() || format.normalised(); }
};

inline u32 TexelFormat::channel_bytes() const {
  switch (type) {
    case TexelType::U8:
    case TexelType::S8:
    case TexelType::Unorm8:
    case TexelType::Snorm8:
      return 1;
    case TexelType::U32:
    case TexelType::S32:
    case TexelType::F32:
      return 4;
    default:
      return 2;
  }
}

// Owns the objects. An object dies twice: `remove` takes the handle from the program, `bury` from kernels, once those
// that were launched before have ended. Freed slots are reused late, the oldest first, so that stale handles stay
// recognisable for long.
class TextureTable {
 public:
  TextureTable();
  ~TextureTable();
  TextureTable(const TextureTable&) = delete;
  TextureTable& operator=(const TextureTable&) = delete;
  u64 add(const TextureObject&);                     // the handle; 0: there are too many
  bool remove(u64 handle, u32 magic);                // false: no such object
  void bury(u64 handle);                             // of a removed object
  const TextureObject* find(u64 handle, u32 magic);  // nullptr: not the program's any more, or no such object

  // For device code: nullptr if nothing of the kind has this handle. Any number may be asked for.
  const TextureObject* object(u64 handle, u32 magic) const {
    const u64 at = handle - base_;
    if (at >= bytes_ || at % kSlot) return nullptr;
    const auto* t = reinterpret_cast<const TextureObject*>(handle);
    return t->magic == magic ? t : nullptr;
  }

 private:
  static constexpr u64 kSlot = 1024;
  static constexpr u64 kSlots = 1u << 20, kFewestSlots = 1u << 10;  // half as many as long as there is no address space
  static constexpr u64 kKeep = 1024;                                // free slots before one is used again
  static_assert(sizeof(TextureObject) <= kSlot);
  u64 base_ = 0, bytes_ = 0;
  std::mutex m_;                   // guards the members below
  u64 used_ = 0;                   // slots that have ever been used: the first ones
  std::unordered_set<u64> known_;  // handles, not removed
  std::deque<u64> free_;           // oldest first
};

}  // namespace us::memory
