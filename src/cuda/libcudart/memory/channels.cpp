// SPDX-License-Identifier: Apache-2.0
#include "cuda/libcudart/memory/channels.h"

namespace us::cuda {

using memory::TexelType;

namespace {

struct KindRow {
  cudaChannelFormatKind kind;
  CUarray_format format;
};
constexpr KindRow kNormalised[] = {
    {cudaChannelFormatKindUnsignedNormalized8X1, CU_AD_FORMAT_UNORM_INT8X1},
    {cudaChannelFormatKindUnsignedNormalized8X2, CU_AD_FORMAT_UNORM_INT8X2},
    {cudaChannelFormatKindUnsignedNormalized8X4, CU_AD_FORMAT_UNORM_INT8X4},
    {cudaChannelFormatKindUnsignedNormalized16X1, CU_AD_FORMAT_UNORM_INT16X1},
    {cudaChannelFormatKindUnsignedNormalized16X2, CU_AD_FORMAT_UNORM_INT16X2},
    {cudaChannelFormatKindUnsignedNormalized16X4, CU_AD_FORMAT_UNORM_INT16X4},
    {cudaChannelFormatKindSignedNormalized8X1, CU_AD_FORMAT_SNORM_INT8X1},
    {cudaChannelFormatKindSignedNormalized8X2, CU_AD_FORMAT_SNORM_INT8X2},
    {cudaChannelFormatKindSignedNormalized8X4, CU_AD_FORMAT_SNORM_INT8X4},
    {cudaChannelFormatKindSignedNormalized16X1, CU_AD_FORMAT_SNORM_INT16X1},
    {cudaChannelFormatKindSignedNormalized16X2, CU_AD_FORMAT_SNORM_INT16X2},
    {cudaChannelFormatKindSignedNormalized16X4, CU_AD_FORMAT_SNORM_INT16X4},
};

CUarray_format plain_format(cudaChannelFormatKind kind, int bits) {
  switch (kind) {
    case cudaChannelFormatKindSigned:
      return bits == 8    ? CU_AD_FORMAT_SIGNED_INT8
             : bits == 16 ? CU_AD_FORMAT_SIGNED_INT16
             : bits == 32 ? CU_AD_FORMAT_SIGNED_INT32
                          : CU_AD_FORMAT_MAX;
    case cudaChannelFormatKindUnsigned:
      return bits == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
             : bits == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
             : bits == 32 ? CU_AD_FORMAT_UNSIGNED_INT32
                          : CU_AD_FORMAT_MAX;
    case cudaChannelFormatKindFloat:
      return bits == 16 ? CU_AD_FORMAT_HALF : bits == 32 ? CU_AD_FORMAT_FLOAT : CU_AD_FORMAT_MAX;
    default:
      return CU_AD_FORMAT_MAX;
  }
}

// 1, 2 or 4 channels of one width, from the first on; 0 otherwise.
u32 count_channels(const cudaChannelFormatDesc& d) {
  const int bits[] = {d.x, d.y, d.z, d.w};
  u32 n = 0;
  while (n < 4 && bits[n] == d.x) ++n;
  for (u32 i = n; i < 4; ++i)
    if (bits[i]) return 0;
  return n == 3 ? 0 : n;
}

}  // namespace

driver::Error channels_to_format(const cudaChannelFormatDesc& d, CUarray_format& format, u32& channels) {
  channels = count_channels(d);
  format = plain_format(d.f, d.x);
  if (channels && format != CU_AD_FORMAT_MAX) return Error::Success;
  for (const KindRow& row : kNormalised) {
    if (row.kind != d.f) continue;
    memory::TexelFormat f;
    format = row.format;
    return texel_format(format, channels, f) == Error::Success ? Error::Success : Error::InvalidChannelDescriptor;
  }
  const bool compressed = d.f == cudaChannelFormatKindNV12 || d.f >= cudaChannelFormatKindUnsignedBlockCompressed1;
  return compressed ? Error::NotSupported : Error::InvalidChannelDescriptor;
}

cudaChannelFormatDesc channels_of(const memory::TexelFormat& f) {
  const int bits = static_cast<int>(f.channel_bytes() * 8);
  cudaChannelFormatDesc d{bits, f.channels > 1 ? bits : 0, f.channels > 2 ? bits : 0, f.channels > 3 ? bits : 0,
                          cudaChannelFormatKindUnsigned};
  if (f.floating()) d.f = cudaChannelFormatKindFloat;
  if (f.type == TexelType::S8 || f.type == TexelType::S16 || f.type == TexelType::S32)
    d.f = cudaChannelFormatKindSigned;
  for (const KindRow& row : kNormalised)
    if (row.format == array_format(f)) d.f = row.kind;
  return d;
}

}  // namespace us::cuda
