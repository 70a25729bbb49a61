// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: from the descriptors to what device code reads. See images.h.
#include <cstring>
#include <unordered_map>

#include "cuda/devices.h"
#include "cuda/memory/images.h"
#include "driver/memory/array.h"

namespace us::cuda {

using driver::Attribute;
using driver::Error;
using memory::TexelFormat;
using memory::TexelType;
using memory::TextureObject;
using memory::TextureShape;

namespace {

struct Images {
  std::mutex m;  // guards by_handle
  std::unordered_map<u64, ImageDesc> by_handle;
};
Images& images() {
  static Images* const i = new Images;
  return *i;
}

u64 most(u32 device, Attribute a) { return static_cast<u64>(attribute_of(device, a)); }

Error from_array(const CUDA_RESOURCE_DESC& r, TextureObject& t) {
  const driver::Array* a = runtime().arrays().find(r.res.array.hArray);
  if (!a) return Error::InvalidHandle;
  t.shape = a->desc().shape();
  t.format = a->desc().format;
  t.gather = a->desc().flags & driver::ArrayDesc::Gather;
  t.level[0] = a->level();
  return Error::Success;
}

Error from_mipmap(const CUDA_RESOURCE_DESC& r, TextureObject& t) {
  const driver::MipmappedArray* m = runtime().arrays().find_mipmapped(r.res.mipmap.hMipmappedArray);
  if (!m) return Error::InvalidHandle;
  t.shape = m->desc().shape();
  t.format = m->desc().format;
  t.level_count = m->levels();
  for (u32 i = 0; i < m->levels(); ++i) t.level[i] = m->level(i).level();
  return Error::Success;
}

Error from_linear(u32 device, const CUDA_RESOURCE_DESC& r, TextureObject& t) {
  const auto& l = r.res.linear;
  US_TRY(texel_format(l.format, l.numChannels, t.format));
  const u64 texels = l.sizeInBytes / t.format.texel_bytes();
  if (!l.devPtr || l.devPtr % most(device, Attribute::TEXTURE_ALIGNMENT) || texels > ~u32{0})
    return Error::InvalidValue;
  t.shape = TextureShape::Linear;
  t.level[0] = {.data = l.devPtr, .width = static_cast<u32>(texels), .pitch = l.sizeInBytes, .slice = l.sizeInBytes};
  return Error::Success;
}

Error from_pitched(u32 device, const CUDA_RESOURCE_DESC& r, TextureObject& t) {
  const auto& p = r.res.pitch2D;
  US_TRY(texel_format(p.format, p.numChannels, t.format));
  if (!p.devPtr || p.devPtr % most(device, Attribute::TEXTURE_ALIGNMENT) || p.width == 0 || p.height == 0 ||
      p.width > most(device, Attribute::MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
      p.height > most(device, Attribute::MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
      p.pitchInBytes > most(device, Attribute::MAXIMUM_TEXTURE2D_LINEAR_PITCH) ||
      p.pitchInBytes % most(device, Attribute::TEXTURE_PITCH_ALIGNMENT))
    return Error::InvalidValue;
  t.shape = TextureShape::D2;
  t.level[0] = {.data = p.devPtr,
                .width = static_cast<u32>(p.width),
                .height = static_cast<u32>(p.height),
                .pitch = p.pitchInBytes,
                .slice = p.pitchInBytes * p.height};
  return Error::Success;
}

Error from_resource(u32 device, const CUDA_RESOURCE_DESC& r, TextureObject& t) {
  if (r.flags) return Error::InvalidValue;
  switch (r.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      return from_array(r, t);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return from_mipmap(r, t);
    case CU_RESOURCE_TYPE_LINEAR:
      return from_linear(device, r, t);
    case CU_RESOURCE_TYPE_PITCH2D:
      return from_pitched(device, r, t);
    default:
      return Error::InvalidValue;
  }
}

// CU_RES_VIEW_FORMAT_UINT_1X8 ... FLOAT_4X32 stand in runs of three: 1, 2 and 4 channels.
bool view_format(CUresourceViewFormat f, TexelFormat& out) {
  constexpr TexelType kTypes[] = {TexelType::U8,  TexelType::S8,  TexelType::U16, TexelType::S16,
                                  TexelType::U32, TexelType::S32, TexelType::F16, TexelType::F32};
  constexpr u8 kChannels[] = {1, 2, 4};
  if (f < CU_RES_VIEW_FORMAT_UINT_1X8 || f > CU_RES_VIEW_FORMAT_FLOAT_4X32) return false;
  const u32 i = static_cast<u32>(f) - CU_RES_VIEW_FORMAT_UINT_1X8;
  out = {kTypes[i / 3], kChannels[i % 3]};
  return true;
}

// The part of the levels and layers that the view shows.
Error apply_view(const CUDA_RESOURCE_VIEW_DESC& v, TextureObject& t) {
  if (v.format != CU_RES_VIEW_FORMAT_NONE) {
    TexelFormat f;
    if (v.format > CU_RES_VIEW_FORMAT_FLOAT_4X32) return Error::NotSupported;  // block-compressed
    if (!view_format(v.format, f) || f.texel_bytes() != t.format.texel_bytes()) return Error::InvalidValue;
    t.format = f;
  }
  const auto& top = t.level[0];
  if (v.width != top.width || (v.height ? v.height : 1) != top.height) return Error::InvalidValue;
  if (v.lastMipmapLevel < v.firstMipmapLevel || v.lastMipmapLevel >= t.level_count) return Error::InvalidValue;
  t.level_count = v.lastMipmapLevel - v.firstMipmapLevel + 1;
  for (u32 i = 0; i < t.level_count; ++i) t.level[i] = t.level[i + v.firstMipmapLevel];
  const bool layers = t.layered() && (v.firstLayer || v.lastLayer);
  if (!layers) return Error::Success;
  if (v.lastLayer < v.firstLayer || v.lastLayer >= t.level[0].depth) return Error::InvalidValue;
  for (u32 i = 0; i < t.level_count; ++i) {
    t.level[i].data += v.firstLayer * t.level[i].slice;
    t.level[i].depth = v.lastLayer - v.firstLayer + 1;
  }
  return Error::Success;
}

bool is_mode(CUaddress_mode m) { return m >= CU_TR_ADDRESS_MODE_WRAP && m <= CU_TR_ADDRESS_MODE_BORDER; }
bool is_mode(CUfilter_mode m) { return m == CU_TR_FILTER_MODE_POINT || m == CU_TR_FILTER_MODE_LINEAR; }

Error apply_sampling(const CUDA_TEXTURE_DESC& d, TextureObject& t) {
  constexpr unsigned kKnown = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                              CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  if ((d.flags & ~kKnown) || !is_mode(d.filterMode) || !is_mode(d.mipmapFilterMode)) return Error::InvalidValue;
  t.normalised_coords = d.flags & CU_TRSF_NORMALIZED_COORDINATES;
  for (u32 i = 0; i < 3; ++i) {
    if (!is_mode(d.addressMode[i])) return Error::InvalidValue;
    t.address[i] = static_cast<memory::AddressMode>(d.addressMode[i]);
    const bool repeats = t.address[i] == memory::AddressMode::Wrap || t.address[i] == memory::AddressMode::Mirror;
    if (repeats && !t.normalised_coords) t.address[i] = memory::AddressMode::Clamp;
  }
  const bool wide = t.format.channel_bytes() == 4, integer = !t.format.floating() && !t.format.normalised();
  t.read_normalised = integer && !wide && !(d.flags & CU_TRSF_READ_AS_INTEGER);
  t.filter = static_cast<memory::FilterMode>(d.filterMode);
  t.mip_filter = static_cast<memory::FilterMode>(d.mipmapFilterMode);
  t.srgb = d.flags & CU_TRSF_SRGB;
  t.seamless_cube = d.flags & CU_TRSF_SEAMLESS_CUBEMAP;
  t.trilinear_optimisation = !(d.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  t.max_anisotropy = d.maxAnisotropy;
  t.level_bias = d.mipmapLevelBias;
  t.min_level = d.minMipmapLevelClamp;
  t.max_level = d.maxMipmapLevelClamp;
  std::memcpy(t.border, d.borderColor, sizeof t.border);
  return Error::Success;
}

Error keep(const TextureObject& t, const ImageDesc& d, u64& out) {
  const u64 handle = runtime().textures().add(t);
  if (!handle) return Error::OutOfMemory;
  std::lock_guard l(images().m);
  images().by_handle[handle] = d;
  out = handle;
  return Error::Success;
}

u32 magic_of(bool texture) { return texture ? TextureObject::kTexture : TextureObject::kSurface; }

}  // namespace

Error create_texture(driver::Context& c, const CUDA_RESOURCE_DESC& r, const CUDA_TEXTURE_DESC& d,
                     const CUDA_RESOURCE_VIEW_DESC* v, ReadMode mode, u64& out) {
  US_TRY(c.sticky());
  TextureObject t;
  t.magic = TextureObject::kTexture;
  const bool linear = r.resType == CU_RESOURCE_TYPE_LINEAR || r.resType == CU_RESOURCE_TYPE_PITCH2D;
  US_TRY(from_resource(c.device().ordinal(), r, t));
  if (v && !linear) US_TRY(apply_view(*v, t));
  US_TRY(apply_sampling(d, t));
  if (t.filter == memory::FilterMode::Linear && !t.reads_float()) {
    if (mode != ReadMode::NotGiven) return Error::InvalidFilterSetting;
    t.filter = memory::FilterMode::Point;
  }
  if (mode == ReadMode::Normalised && !t.read_normalised && !t.format.normalised()) return Error::InvalidNormSetting;
  return keep(t, {r, d, v ? *v : CUDA_RESOURCE_VIEW_DESC{}}, out);
}

Error create_surface(driver::Context& c, const CUDA_RESOURCE_DESC& r, u64& out) {
  US_TRY(c.sticky());
  if (r.resType != CU_RESOURCE_TYPE_ARRAY || r.flags) return Error::InvalidValue;
  TextureObject t;
  t.magic = TextureObject::kSurface;
  US_TRY(from_array(r, t));
  return keep(t, {.resource = r}, out);
}

Error destroy_image(u64 handle, bool texture) {
  if (!runtime().textures().remove(handle, magic_of(texture))) return Error::InvalidHandle;
  runtime().after_all_work(std::shared_ptr<void>(nullptr, [handle](void*) { runtime().textures().bury(handle); }));
  std::lock_guard l(images().m);
  images().by_handle.erase(handle);
  return Error::Success;
}

Error find_image(u64 handle, bool texture, ImageDesc& out) {
  if (!runtime().textures().find(handle, magic_of(texture))) return Error::InvalidHandle;
  std::lock_guard l(images().m);
  const auto it = images().by_handle.find(handle);
  if (it == images().by_handle.end()) return Error::InvalidHandle;
  out = it->second;
  return Error::Success;
}

}  // namespace us::cuda
