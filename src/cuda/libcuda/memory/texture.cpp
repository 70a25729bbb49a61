// SPDX-License-Identifier: Apache-2.0
// Texture Object Management, Surface Object Management.
#include "cuda/libcuda/driver_api.h"
#include "cuda/memory/images.h"

using namespace us::cuda;

namespace {

template <class Out, class F>
CUresult describe(Out* out, us::u64 handle, bool texture, F&& f) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context&) {
    ImageDesc d;
    if (us::driver::failed(find_image(handle, texture, d))) return Error::InvalidValue;
    return f(d);
  });
}

}  // namespace

US_API CUresult cuTexObjectCreate(CUtexObject* out, const CUDA_RESOURCE_DESC* resource,
                                  const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  if (!out || !resource || !texture) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    us::u64 handle = 0;
    US_TRY(create_texture(c, *resource, *texture, view, ReadMode::NotGiven, handle));
    *out = handle;
    return Error::Success;
  });
}

US_API CUresult cuTexObjectDestroy(CUtexObject handle) {
  return in_current([&](Context&) { return handle ? destroy_image(handle, true) : Error::Success; });
}

US_API CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUtexObject handle) {
  return describe(out, handle, true, [&](const ImageDesc& d) {
    *out = d.resource;
    return Error::Success;
  });
}
US_API CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* out, CUtexObject handle) {
  return describe(out, handle, true, [&](const ImageDesc& d) {
    *out = d.texture;
    return Error::Success;
  });
}
US_API CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* out, CUtexObject handle) {
  return describe(out, handle, true, [&](const ImageDesc& d) {
    *out = d.view;
    return Error::Success;
  });
}

US_API CUresult cuSurfObjectCreate(CUsurfObject* out, const CUDA_RESOURCE_DESC* resource) {
  if (!out || !resource) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    us::u64 handle = 0;
    US_TRY(create_surface(c, *resource, handle));
    *out = handle;
    return Error::Success;
  });
}

US_API CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return in_current([&](Context&) { return handle ? destroy_image(handle, false) : Error::Success; });
}

US_API CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUsurfObject handle) {
  return describe(out, handle, false, [&](const ImageDesc& d) {
    *out = d.resource;
    return Error::Success;
  });
}

US_API CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* out, CUarray_format format, unsigned channels, CUdevice d) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  us::memory::TexelFormat f;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (const Error e = texel_format(format, channels, f); us::driver::failed(e)) return result(e);
  const auto width = us::driver::Attribute::MAXIMUM_TEXTURE1D_LINEAR_WIDTH;
  *out = static_cast<size_t>(attribute_of(static_cast<us::u32>(d), width));
  return CUDA_SUCCESS;
}
