// SPDX-License-Identifier: Apache-2.0
// tex, tld4, txq, suq: one thread at a time through memory/sample.h.
#include <fmt/format.h>

#include <iterator>

#include "device/abi/texture_code.h"
#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/schedule/machine.h"
#include "memory/sample.h"
#include "memory/warp_sample.h"

namespace us::device {
namespace {

using memory::TextureObject;
using memory::TextureRead;

float real(const PerLane& values, u32 lane) { return std::bit_cast<float>(u32(values[lane])); }

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

// f(object, lanes) for every object that lanes name.
template <class F>
void each_object(Warp& w, u32 mask, const PerLane& handles, F&& f) {
  while (mask) {
    const u32 lane = first_lane(mask), same = memory::lanes_with(handles.lane, handles[lane]) & mask;
    f(texture(w, handles[lane], lane), same);
    mask &= ~same;
  }
}

bool is_layered(Geometry g) { return g == Geometry::A1 || g == Geometry::A2 || g == Geometry::ACube; }

// All lanes together; returns those that are left to do. Layered shapes have the layer first.
template <class Args>  // of Texture or TextureGrad
u32 by_warp(memory::WarpSampler sampler, const TextureObject& t, const TextureCode& code, u32 mask, const Args& a,
            u64* results) {
  static constexpr u64 kZeros[memory::kLanes] = {};
  const bool layered = is_layered(code.geometry);
  memory::WarpRead r;
  if (layered) r.layer = a.c[0].lane;
  for (u32 k = 0; k < 3; ++k) {
    const u32 at = k + layered;
    r.at[k] = at < std::size(a.c) ? a.c[at].lane : kZeros;
    r.offset[k] = at < std::size(a.c) ? a.offset[k].lane : kZeros;
  }
  memory::WarpTexels texels;
  const u32 left = sampler(t, r, texels) & mask;
  memory::put_lanes(texels, t.format.channels, mask & ~left, results);
  return left;
}

template <class Args>
TextureRead read_of(const TextureCode& code, const Args& a, u32 lane) {
  TextureRead r;
  const bool layered = is_layered(code.geometry);
  r.integer = code.integer;
  if (layered) r.layer = u32(a.c[0][lane]);
  for (u32 k = 0; k < 3; ++k) {
    const u32 at = k + layered;
    if (at >= std::size(a.c)) break;
    r.at[k] = real(a.c[at], lane);
    r.texel[k] = i32(a.c[at][lane]);
    r.offset[k] = i32(a.offset[k][lane]);
  }
  return r;
}

void put(u64* results, u32 lane, const memory::Texel& t) {
  for (u32 k = 0; k < 4; ++k) results[k * 32 + lane] = t.c[k];
}

// f(read), which samples; a listener hears which texels that took.
template <class F>
memory::Texel told(Warp& w, u32 lane, u64 handle, const TextureObject& t, TextureRead& r, F&& f) {
  if (!w.listener) return f(r);
  std::vector<const u8*> texels;
  r.touched = &texels;
  const memory::Texel result = f(r);
  std::vector<probe::Range> ranges;
  for (const u8* at : texels)
    if (handle) ranges.push_back(range_at(*w.home->slot, at, t.format.texel_bytes()));
  tell_image(w, lane, probe::Image::Kind::Sample, handle, ranges);
  return result;
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
  const auto& a = named<TextureArgs>(args);
  const TextureCode code = TextureCode::unpack(a.code[first_lane(mask)]);
  each_object(w, mask, a.handle, [&](const TextureObject& t, u32 same) {
    const memory::WarpSampler fast = code.gather || w.listener ? nullptr
                                     : !code.integer           ? t.sample_warp
                                     : code.level              ? nullptr
                                                               : t.fetch_warp;
    for (u32 l : Lanes(fast ? by_warp(fast, t, code, same, a, results) : same)) {
      TextureRead r = read_of(code, a, l);
      r.level = code.level;
      if (code.integer)
        r.texel_level = code.level ? i32(a.lod[l]) : 0;
      else
        r.lod = real(a.lod, l);
      put(results, l, told(w, l, a.handle[l], t, r, [&](const TextureRead& one) {
            return code.gather ? memory::gather(t, one, code.component) : memory::sample(t, one);
          }));
    }
  });
}

void rt_TextureGrad(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<TextureGradArgs>(args);
  const TextureCode code = TextureCode::unpack(a.code[first_lane(mask)]);
  each_object(w, mask, a.handle, [&](const TextureObject& t, u32 same) {
    const bool fast = t.sample_warp && !w.listener;
    for (u32 l : Lanes(fast ? by_warp(t.sample_warp, t, code, same, a, results) : same)) {
      TextureRead r = read_of(code, a, l);
      float d[2][3];
      for (u32 k = 0; k < 6; ++k) d[k / 3][k % 3] = real(a.gradient[k], l);
      r.level = true;
      r.lod = memory::level_of_gradients(t, d[0], d[1]);
      put(results, l, told(w, l, a.handle[l], t, r, [&](const TextureRead& one) { return memory::sample(t, one); }));
    }
  });
}

void rt_TextureQuery(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<TextureQueryArgs>(args);
  for (u32 l : Lanes(mask)) {
    const TextureObject* const as_texture = image_of(w, a.handle[l], TextureObject::kTexture);
    const TextureObject* const as_surface = image_of(w, a.handle[l], TextureObject::kSurface);
    const auto query = static_cast<TextureQuery>(a.what[l]);
    if (query == TextureQuery::IsTexture || query == TextureQuery::IsSurface) {
      results[l] = (query == TextureQuery::IsTexture ? as_texture : as_surface) != nullptr;
      continue;
    }
    const TextureObject* const t = as_texture ? as_texture : as_surface;
    if (!t) die(w, Outcome::IllegalAddress, fmt::format("{:#x} is no texture or surface object", a.handle[l]), 1u << l);
    results[l] = answer(*t, query, u32(a.level[l]));
  }
}

}  // namespace us::device
