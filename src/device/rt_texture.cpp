// SPDX-License-Identifier: Apache-2.0
// tex, tld4, txq, suq: one thread at a time through memory/sample.h.
#include <fmt/format.h>

#include "device/machine.h"
#include "device/rt.h"
#include "device/texture_code.h"
#include "memory/sample.h"

namespace us::device {
namespace {

using memory::TextureObject;
using memory::TextureRead;

u32 word(const u64* args, u32 k, u32 lane) { return u32(args[k * 32 + lane]); }
float real(const u64* args, u32 k, u32 lane) { return std::bit_cast<float>(word(args, k, lane)); }

// Handle 0 reads zeros, as on hardware.
const TextureObject& texture(Warp& w, u64 handle, u32 lane) {
  static constexpr u32 kNothing = 0;
  static const TextureObject none = [] {
    TextureObject t;
    t.format = {memory::TexelType::U32, 1};
    t.level[0].data = reinterpret_cast<u64>(&kNothing);
    return t;
  }();
  if (!handle) return none;
  const TextureObject* t = image_of(w, handle, TextureObject::kTexture);
  if (!t) die(w, Outcome::IllegalAddress, fmt::format("{:#x} is no texture object", handle), 1u << lane);
  return *t;
}

// Layered shapes have the layer first.
TextureRead read_of(const TextureCode& code, const u64* args, u32 lane, u32 offsets) {
  TextureRead r;
  const bool layered =
      code.geometry == Geometry::A1 || code.geometry == Geometry::A2 || code.geometry == Geometry::ACube;
  r.integer = code.integer;
  if (layered) r.layer = word(args, 2, lane);
  for (u32 k = 0; k < 3; ++k) {
    const u32 at = 2 + k + layered;
    if (at > 5) break;
    r.at[k] = real(args, at, lane);
    r.texel[k] = i32(word(args, at, lane));
    r.offset[k] = i32(word(args, offsets + k, lane));
  }
  return r;
}

void put(u64* results, u32 lane, const memory::Texel& t) {
  for (u32 k = 0; k < 4; ++k) results[k * 32 + lane] = t.c[k];
}

// Numbers of CUDA's OpenCL-style channel enumerations, as the driver writes them.
u32 channel_type(const TextureObject& t) {
  using memory::TexelType;
  switch (t.format.type) {
    case TexelType::S8:
      return t.read_normalised ? 0x10D0 : 0x10D7;
    case TexelType::S16:
      return t.read_normalised ? 0x10D1 : 0x10D8;
    case TexelType::U8:
      return t.read_normalised ? 0x10D2 : 0x10DA;
    case TexelType::U16:
      return t.read_normalised ? 0x10D3 : 0x10DB;
    case TexelType::Snorm8:
      return 0x10D0;
    case TexelType::Snorm16:
      return 0x10D1;
    case TexelType::Unorm8:
      return 0x10D2;
    case TexelType::Unorm16:
      return 0x10D3;
    case TexelType::S32:
      return 0x10D9;
    case TexelType::U32:
      return 0x10DC;
    case TexelType::F16:
      return 0x10DD;
    case TexelType::F32:
      return 0x10DE;
  }
  US_UNREACHABLE();
}
u32 channel_order(const TextureObject& t) {
  return t.format.channels == 1 ? 0x10B0 : t.format.channels == 2 ? 0x10B2 : 0x10B5;
}

u32 answer(const TextureObject& t, TextureQuery q, u32 level) {
  const memory::TextureLevel& l = t.level[std::min(level, t.level_count - 1)];
  const bool slices = t.layered() || t.cube();
  switch (q) {
    case TextureQuery::Width:
      return l.width;
    case TextureQuery::Height:
      return l.height;
    case TextureQuery::Depth:
      return slices ? 1 : l.depth;
    case TextureQuery::ArraySize:
      return t.layered() ? (t.cube() ? l.depth / 6 : l.depth) : 0;
    case TextureQuery::ChannelDataType:
      return channel_type(t);
    case TextureQuery::ChannelOrder:
      return channel_order(t);
    case TextureQuery::NormalizedCoords:
      return t.normalised_coords;
    case TextureQuery::FilterMode:
      return u32(t.filter);
    case TextureQuery::AddrMode0:
    case TextureQuery::AddrMode1:
    case TextureQuery::AddrMode2:
      return u32(t.address[u32(q) - u32(TextureQuery::AddrMode0)]);
    case TextureQuery::MipmapLevels:
      return t.level_count;
    case TextureQuery::Samples:
      return 1;
    case TextureQuery::MemoryLayout:
      return t.shape != memory::TextureShape::Linear;
    case TextureQuery::IsTexture:
    case TextureQuery::IsSurface:
      break;
  }
  US_UNREACHABLE();
}

}  // namespace

const TextureObject* image_of(Warp& w, u64 handle, u32 magic) {
  const memory::TextureTable* t = machine_of(w).options.textures;
  return t ? t->object(handle, magic) : nullptr;
}

void rt_Texture(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  for (u32 l : Lanes(mask)) {
    const TextureObject& t = texture(w, args[l], l);
    const TextureCode code = TextureCode::unpack(args[32 + l]);
    TextureRead r = read_of(code, args, l, 7);
    r.level = code.level;
    if (code.integer)
      r.texel_level = code.level ? i32(word(args, 6, l)) : 0;
    else
      r.lod = real(args, 6, l);
    put(results, l, code.gather ? memory::gather(t, r, code.component) : memory::sample(t, r));
  }
}

void rt_TextureGrad(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  for (u32 l : Lanes(mask)) {
    const TextureObject& t = texture(w, args[l], l);
    TextureRead r = read_of(TextureCode::unpack(args[32 + l]), args, l, 12);
    float d[2][3];
    for (u32 k = 0; k < 6; ++k) d[k / 3][k % 3] = real(args, 6 + k, l);
    r.level = true;
    r.lod = memory::level_of_gradients(t, d[0], d[1]);
    put(results, l, memory::sample(t, r));
  }
}

void rt_TextureQuery(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  for (u32 l : Lanes(mask)) {
    const TextureObject* const as_texture = image_of(w, args[l], TextureObject::kTexture);
    const TextureObject* const as_surface = image_of(w, args[l], TextureObject::kSurface);
    const auto query = static_cast<TextureQuery>(args[32 + l]);
    if (query == TextureQuery::IsTexture || query == TextureQuery::IsSurface) {
      results[l] = (query == TextureQuery::IsTexture ? as_texture : as_surface) != nullptr;
      continue;
    }
    const TextureObject* const t = as_texture ? as_texture : as_surface;
    if (!t) die(w, Outcome::IllegalAddress, fmt::format("{:#x} is no texture or surface object", args[l]), 1u << l);
    results[l] = answer(*t, query, word(args, 2, l));
  }
}

}  // namespace us::device
