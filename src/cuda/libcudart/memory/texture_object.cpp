// SPDX-License-Identifier: Apache-2.0
// Texture Object Management, Surface Object Management.
#include <algorithm>

#include "cuda/devices.h"
#include "cuda/libcudart/memory/channels.h"
#include "driver/memory/array.h"

using namespace us::cuda;

namespace {

// Both APIs number resource types, address modes, filter modes and view formats alike.
Error to_driver(const cudaResourceDesc& r, CUDA_RESOURCE_DESC& out) {
  out = {};
  out.resType = static_cast<CUresourcetype>(r.resType);
  out.flags = r.flags;
  us::u32 channels = 0;
  switch (r.resType) {
    case cudaResourceTypeArray:
      out.res.array.hArray = reinterpret_cast<CUarray>(r.res.array.array);
      return Error::Success;
    case cudaResourceTypeMipmappedArray:
      out.res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(r.res.mipmap.mipmap);
      return Error::Success;
    case cudaResourceTypeLinear:
      out.res.linear.devPtr = address(r.res.linear.devPtr);
      out.res.linear.sizeInBytes = r.res.linear.sizeInBytes;
      US_TRY(channels_to_format(r.res.linear.desc, out.res.linear.format, channels));
      out.res.linear.numChannels = channels;
      return Error::Success;
    case cudaResourceTypePitch2D:
      out.res.pitch2D.devPtr = address(r.res.pitch2D.devPtr);
      out.res.pitch2D.width = r.res.pitch2D.width;
      out.res.pitch2D.height = r.res.pitch2D.height;
      out.res.pitch2D.pitchInBytes = r.res.pitch2D.pitchInBytes;
      US_TRY(channels_to_format(r.res.pitch2D.desc, out.res.pitch2D.format, channels));
      out.res.pitch2D.numChannels = channels;
      return Error::Success;
    default:
      return Error::InvalidValue;
  }
}

cudaChannelFormatDesc channels_of_format(CUarray_format format, unsigned channels) {
  us::memory::TexelFormat f;
  return us::driver::failed(texel_format(format, channels, f)) ? cudaChannelFormatDesc{} : channels_of(f);
}

cudaResourceDesc to_runtime(const CUDA_RESOURCE_DESC& r) {
  cudaResourceDesc out = {};
  out.resType = static_cast<cudaResourceType>(r.resType);
  switch (r.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      out.res.array.array = reinterpret_cast<cudaArray_t>(r.res.array.hArray);
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      out.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(r.res.mipmap.hMipmappedArray);
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      out.res.linear = {pointer(r.res.linear.devPtr), channels_of_format(r.res.linear.format, r.res.linear.numChannels),
                        r.res.linear.sizeInBytes};
      break;
    default:
      out.res.pitch2D = {pointer(r.res.pitch2D.devPtr),
                         channels_of_format(r.res.pitch2D.format, r.res.pitch2D.numChannels), r.res.pitch2D.width,
                         r.res.pitch2D.height, r.res.pitch2D.pitchInBytes};
  }
  return out;
}

CUDA_TEXTURE_DESC to_driver(const cudaTextureDesc& t) {
  CUDA_TEXTURE_DESC out = {};
  for (int i = 0; i < 3; ++i) out.addressMode[i] = static_cast<CUaddress_mode>(t.addressMode[i]);
  out.filterMode = static_cast<CUfilter_mode>(t.filterMode);
  out.flags = (t.readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
              (t.normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) | (t.sRGB ? CU_TRSF_SRGB : 0) |
              (t.disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
              (t.seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0);
  out.maxAnisotropy = t.maxAnisotropy;
  out.mipmapFilterMode = static_cast<CUfilter_mode>(t.mipmapFilterMode);
  out.mipmapLevelBias = t.mipmapLevelBias;
  out.minMipmapLevelClamp = t.minMipmapLevelClamp;
  out.maxMipmapLevelClamp = t.maxMipmapLevelClamp;
  std::copy_n(t.borderColor, 4, out.borderColor);
  return out;
}

// All but the colour of the border, which an H200's runtime does not tell either.
cudaTextureDesc to_runtime(const CUDA_TEXTURE_DESC& t) {
  cudaTextureDesc out = {};
  for (int i = 0; i < 3; ++i) out.addressMode[i] = static_cast<cudaTextureAddressMode>(t.addressMode[i]);
  out.filterMode = static_cast<cudaTextureFilterMode>(t.filterMode);
  out.readMode = t.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  out.sRGB = (t.flags & CU_TRSF_SRGB) != 0;
  out.normalizedCoords = (t.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  out.maxAnisotropy = t.maxAnisotropy;
  out.mipmapFilterMode = static_cast<cudaTextureFilterMode>(t.mipmapFilterMode);
  out.mipmapLevelBias = t.mipmapLevelBias;
  out.minMipmapLevelClamp = t.minMipmapLevelClamp;
  out.maxMipmapLevelClamp = t.maxMipmapLevelClamp;
  out.disableTrilinearOptimization = (t.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  out.seamlessCubemap = (t.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  return out;
}

// Between the views of the two APIs, which name their fields alike.
template <class Out, class View>
Out view_as(const View& v) {
  Out out = {};
  out.format = static_cast<decltype(out.format)>(v.format);
  out.width = v.width;
  out.height = v.height;
  out.depth = v.depth;
  out.firstMipmapLevel = v.firstMipmapLevel;
  out.lastMipmapLevel = v.lastMipmapLevel;
  out.firstLayer = v.firstLayer;
  out.lastLayer = v.lastLayer;
  return out;
}

// f(ImageDesc&) → Error
template <class Out, class F>
cudaError_t describe(Out* out, us::u64 handle, bool texture, F&& f) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context&) {
    ImageDesc d;
    if (us::driver::failed(find_image(handle, texture, d))) return Error::InvalidValue;
    return f(d);
  });
}

}  // namespace

US_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

US_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                           const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  if (!out || !resource || !texture) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    CUDA_RESOURCE_DESC r;
    us::u64 handle = 0;
    US_TRY(to_driver(*resource, r));
    const auto v = view ? view_as<CUDA_RESOURCE_VIEW_DESC>(*view) : CUDA_RESOURCE_VIEW_DESC{};
    const auto mode = texture->readMode == cudaReadModeNormalizedFloat ? ReadMode::Normalised : ReadMode::Element;
    US_TRY(create_texture(c, r, to_driver(*texture), view ? &v : nullptr, mode, handle));
    *out = handle;
    return Error::Success;
  });
}

US_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) {
  return in_context([&](Context&) { return handle ? destroy_image(handle, true) : Error::Success; });
}

US_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t handle) {
  return describe(out, handle, true, [&](const ImageDesc& d) {
    *out = to_runtime(d.resource);
    return Error::Success;
  });
}

US_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t handle) {
  return describe(out, handle, true, [&](const ImageDesc& d) {
    *out = to_runtime(d.texture);
    return Error::Success;
  });
}

US_API cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out, cudaTextureObject_t handle) {
  return describe(out, handle, true, [&](const ImageDesc& d) {
    *out = view_as<cudaResourceViewDesc>(d.view);
    return Error::Success;
  });
}

US_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  if (!out || !resource) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    CUDA_RESOURCE_DESC r;
    us::u64 handle = 0;
    US_TRY(to_driver(*resource, r));
    US_TRY(create_surface(c, r, handle));
    *out = handle;
    return Error::Success;
  });
}

US_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
  return in_context([&](Context&) { return handle ? destroy_image(handle, false) : Error::Success; });
}

US_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t handle) {
  return describe(out, handle, false, [&](const ImageDesc& d) {
    *out = to_runtime(d.resource);
    return Error::Success;
  });
}

US_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* out, const cudaChannelFormatDesc* desc, int device) {
  if (!out || !desc) return done(Error::InvalidValue);
  if (!is_device(device)) return done(Error::InvalidDevice);
  CUarray_format format;
  us::u32 channels = 0;
  if (const Error e = channels_to_format(*desc, format, channels); us::driver::failed(e)) return done(e);
  const auto width = us::driver::Attribute::MAXIMUM_TEXTURE1D_LINEAR_WIDTH;
  *out = static_cast<size_t>(attribute_of(static_cast<us::u32>(device), width));
  return cudaSuccess;
}
