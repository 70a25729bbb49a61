// SPDX-License-Identifier: Apache-2.0
// Arrays: formats, limits, boxes. See images.h.
#include <algorithm>
#include <bit>

#include "cuda/devices.h"
#include "cuda/memory/images.h"
#include "driver/memory/array.h"

namespace us::cuda {

using driver::ArrayDesc;
using driver::Attribute;
using driver::Error;
using memory::TexelFormat;
using memory::TexelType;

namespace {

struct FormatRow {
  CUarray_format format;
  TexelType type;
  u8 channels;  // 0: as many as are asked for
};
constexpr FormatRow kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, TexelType::U8, 0},
    {CU_AD_FORMAT_UNSIGNED_INT16, TexelType::U16, 0},
    {CU_AD_FORMAT_UNSIGNED_INT32, TexelType::U32, 0},
    {CU_AD_FORMAT_SIGNED_INT8, TexelType::S8, 0},
    {CU_AD_FORMAT_SIGNED_INT16, TexelType::S16, 0},
    {CU_AD_FORMAT_SIGNED_INT32, TexelType::S32, 0},
    {CU_AD_FORMAT_HALF, TexelType::F16, 0},
    {CU_AD_FORMAT_FLOAT, TexelType::F32, 0},
    {CU_AD_FORMAT_UNORM_INT8X1, TexelType::Unorm8, 1},
    {CU_AD_FORMAT_UNORM_INT8X2, TexelType::Unorm8, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, TexelType::Unorm8, 4},
    {CU_AD_FORMAT_UNORM_INT16X1, TexelType::Unorm16, 1},
    {CU_AD_FORMAT_UNORM_INT16X2, TexelType::Unorm16, 2},
    {CU_AD_FORMAT_UNORM_INT16X4, TexelType::Unorm16, 4},
    {CU_AD_FORMAT_SNORM_INT8X1, TexelType::Snorm8, 1},
    {CU_AD_FORMAT_SNORM_INT8X2, TexelType::Snorm8, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, TexelType::Snorm8, 4},
    {CU_AD_FORMAT_SNORM_INT16X1, TexelType::Snorm16, 1},
    {CU_AD_FORMAT_SNORM_INT16X2, TexelType::Snorm16, 2},
    {CU_AD_FORMAT_SNORM_INT16X4, TexelType::Snorm16, 4},
};

// Formats that exist but that this device model does not decode.
bool known_elsewhere(CUarray_format f) {
  return (f >= CU_AD_FORMAT_BC1_UNORM && f <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar) || f == CU_AD_FORMAT_NV12 ||
         f == CU_AD_FORMAT_UNORM_INT_101010_2;
}

// The largest extents of each shape: textures, and surfaces where the array may be one.
struct Limit {
  Attribute width, height, depth;
};
constexpr Attribute kNone{};

Limit texture_limit(memory::TextureShape s) {
  using enum Attribute;
  switch (s) {
    case memory::TextureShape::D1:
      return {MAXIMUM_TEXTURE1D_WIDTH, kNone, kNone};
    case memory::TextureShape::D1Layered:
      return {MAXIMUM_TEXTURE1D_LAYERED_WIDTH, kNone, MAXIMUM_TEXTURE1D_LAYERED_LAYERS};
    case memory::TextureShape::D2Layered:
      return {MAXIMUM_TEXTURE2D_LAYERED_WIDTH, MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, MAXIMUM_TEXTURE2D_LAYERED_LAYERS};
    case memory::TextureShape::Cube:
      return {MAXIMUM_TEXTURECUBEMAP_WIDTH, MAXIMUM_TEXTURECUBEMAP_WIDTH, kNone};
    case memory::TextureShape::CubeLayered:
      return {MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
              MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS};
    case memory::TextureShape::D3:
      return {MAXIMUM_TEXTURE3D_WIDTH, MAXIMUM_TEXTURE3D_HEIGHT, MAXIMUM_TEXTURE3D_DEPTH};
    default:
      return {MAXIMUM_TEXTURE2D_WIDTH, MAXIMUM_TEXTURE2D_HEIGHT, kNone};
  }
}

Limit surface_limit(memory::TextureShape s) {
  using enum Attribute;
  switch (s) {
    case memory::TextureShape::D1:
      return {MAXIMUM_SURFACE1D_WIDTH, kNone, kNone};
    case memory::TextureShape::D1Layered:
      return {MAXIMUM_SURFACE1D_LAYERED_WIDTH, kNone, MAXIMUM_SURFACE1D_LAYERED_LAYERS};
    case memory::TextureShape::D2Layered:
      return {MAXIMUM_SURFACE2D_LAYERED_WIDTH, MAXIMUM_SURFACE2D_LAYERED_HEIGHT, MAXIMUM_SURFACE2D_LAYERED_LAYERS};
    case memory::TextureShape::Cube:
      return {MAXIMUM_SURFACECUBEMAP_WIDTH, MAXIMUM_SURFACECUBEMAP_WIDTH, kNone};
    case memory::TextureShape::CubeLayered:
      return {MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
              MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS};
    case memory::TextureShape::D3:
      return {MAXIMUM_SURFACE3D_WIDTH, MAXIMUM_SURFACE3D_HEIGHT, MAXIMUM_SURFACE3D_DEPTH};
    default:
      return {MAXIMUM_SURFACE2D_WIDTH, MAXIMUM_SURFACE2D_HEIGHT, kNone};
  }
}

bool within(u32 device, const ArrayDesc& d, const Limit& limit) {
  const auto fits = [&](u64 extent, Attribute most) {
    return most == kNone || extent <= static_cast<u64>(attribute_of(device, most));
  };
  return fits(d.width, limit.width) && fits(d.height, limit.height) && fits(d.depth, limit.depth);
}

// A volume may also be deep and narrow.
bool within_alternate(u32 device, const ArrayDesc& d) {
  using enum Attribute;
  return d.shape() == memory::TextureShape::D3 &&
         within(device, d,
                {MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
                 MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE});
}

Error check_limits(u32 device, const ArrayDesc& d) {
  using enum Attribute;
  if (!within(device, d, texture_limit(d.shape())) && !within_alternate(device, d)) return Error::InvalidValue;
  if ((d.flags & ArrayDesc::Surface) && !within(device, d, surface_limit(d.shape()))) return Error::InvalidValue;
  const Limit gather{MAXIMUM_TEXTURE2D_GATHER_WIDTH, MAXIMUM_TEXTURE2D_GATHER_HEIGHT, kNone};
  if ((d.flags & ArrayDesc::Gather) && !within(device, d, gather)) return Error::InvalidValue;
  return Error::Success;
}

Error check_shape(const ArrayDesc& d) {
  const bool cube = d.flags & ArrayDesc::Cubemap, layered = d.flags & ArrayDesc::Layered;
  if (d.width == 0) return Error::InvalidValue;
  if (cube && (d.width != d.height || (layered ? d.depth == 0 || d.depth % 6 : d.depth != 6)))
    return Error::InvalidValue;
  if (!cube && layered && d.depth == 0) return Error::InvalidValue;
  if (!cube && !layered && d.depth && !d.height) return Error::InvalidValue;
  if ((d.flags & ArrayDesc::Gather) && d.shape() != memory::TextureShape::D2) return Error::InvalidValue;
  return Error::Success;
}

}  // namespace

Error texel_format(CUarray_format format, u32 channels, TexelFormat& out) {
  for (const FormatRow& row : kFormats) {
    if (row.format != format) continue;
    if (row.channels ? channels != row.channels : channels != 1 && channels != 2 && channels != 4)
      return Error::InvalidValue;
    out = {row.type, static_cast<u8>(channels)};
    return Error::Success;
  }
  return known_elsewhere(format) ? Error::NotSupported : Error::InvalidValue;
}

CUarray_format array_format(const TexelFormat& f) {
  for (const FormatRow& row : kFormats)
    if (row.type == f.type && (row.channels == 0 || row.channels == f.channels)) return row.format;
  return CU_AD_FORMAT_MAX;
}

Error array_desc(const CUDA_ARRAY3D_DESCRIPTOR& d, ArrayDesc& out) {
  constexpr u32 kKnown = 0x3f, kElsewhere = CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING;
  if (d.Flags & kElsewhere) return Error::NotSupported;
  if (d.Flags & ~kKnown) return Error::InvalidValue;
  out = ArrayDesc();
  out.width = d.Width, out.height = d.Height, out.depth = d.Depth, out.flags = d.Flags;
  US_TRY(texel_format(d.Format, d.NumChannels, out.format));
  return check_shape(out);
}

CUDA_ARRAY3D_DESCRIPTOR descriptor_of(const ArrayDesc& d) {
  return {.Width = d.width,
          .Height = d.height,
          .Depth = d.depth,
          .Format = array_format(d.format),
          .NumChannels = d.format.channels,
          .Flags = d.flags};
}

Error create_array(driver::Context& c, const CUDA_ARRAY3D_DESCRIPTOR& given, driver::Array*& out) {
  ArrayDesc d;
  US_TRY(array_desc(given, d));
  US_TRY(check_limits(c.device().ordinal(), d));
  return runtime().arrays().create(c, d, out);
}

Error create_mipmapped(driver::Context& c, const CUDA_ARRAY3D_DESCRIPTOR& given, u32 levels,
                       driver::MipmappedArray*& out) {
  ArrayDesc d;
  US_TRY(array_desc(given, d));
  US_TRY(check_limits(c.device().ordinal(), d));
  const u64 longest = std::max({d.width, d.height, d.shape() == memory::TextureShape::D3 ? d.depth : u64{1}});
  const u32 most = static_cast<u32>(std::bit_width(longest));
  return runtime().arrays().create(c, d, std::clamp(levels, 1u, most), out);
}

Error end_in_array(const driver::Array& a, const Box& b, CopyEnd& out) {
  const auto inside = [](u64 at, u64 n, u64 end) { return at <= end && n <= end - at; };
  if (!inside(b.x, b.width, a.row_bytes()) || !inside(b.y, b.height, a.desc().rows()) ||
      !inside(b.z, b.depth, a.desc().slices()))
    return Error::InvalidValue;
  out = {a.memory() + b.z * a.slice() + b.y * a.pitch() + b.x, a.pitch(), a.slice(), true};
  return Error::Success;
}

driver::Copy copy_between(const CopyEnd& dst, const CopyEnd& src, const Box& e) {
  return {.dst = dst.start,
          .src = src.start,
          .width = e.width,
          .height = e.height,
          .depth = e.depth,
          .dst_pitch = dst.pitch,
          .src_pitch = src.pitch,
          .dst_slice = dst.slice,
          .src_slice = src.slice,
          .dst_array = dst.array,
          .src_array = src.array};
}

Error cursor_in(const driver::Array& a, u64 x, u64 y, u64 bytes, ArrayCursor& out) {
  const u64 row = a.row_bytes(), all = row * a.desc().rows();
  if (x >= row || y >= a.desc().rows()) return Error::InvalidValue;
  out = {&a, y * row + x};
  return bytes <= all - out.at ? Error::Success : Error::InvalidValue;
}

Error split_copy(ArrayCursor dst, ArrayCursor src, u64 bytes, std::vector<driver::Copy>& out) {
  const auto left_in_row = [&](const ArrayCursor& c) {
    return c.array ? c.array->row_bytes() - c.at % c.array->row_bytes() : bytes;
  };
  const auto end_at = [](const ArrayCursor& c, u64 width) {
    if (!c.array) return CopyEnd{c.at, width, 0, false};
    const u64 row = c.array->row_bytes();
    return CopyEnd{c.array->memory() + c.at / row * c.array->pitch() + c.at % row, c.array->pitch(), 0, true};
  };
  const auto whole_rows = [&](u64 row) {  // how many rows of `row` bytes can go as one rectangle
    const bool fits = (!dst.array || (dst.array->row_bytes() == row && dst.at % row == 0)) &&
                      (!src.array || (src.array->row_bytes() == row && src.at % row == 0));
    return fits ? bytes / row : 0;
  };
  while (bytes) {
    u64 width = std::min({bytes, left_in_row(dst), left_in_row(src)}), rows = 1;
    if (const u64 row = (dst.array ? dst.array : src.array)->row_bytes(); whole_rows(row)) {
      width = row;
      rows = whole_rows(row);
    }
    out.push_back(copy_between(end_at(dst, width), end_at(src, width), {.width = width, .height = rows}));
    dst.at += width * rows;
    src.at += width * rows;
    bytes -= width * rows;
  }
  return Error::Success;
}

}  // namespace us::cuda
