// SPDX-License-Identifier: Apache-2.0
// Memory Management: arrays and mipmapped arrays.
#include "driver/memory/array.h"
#include "cuda/libcuda/driver_api.h"
#include "cuda/memory/images.h"

using namespace us::cuda;
using us::driver::Array;
using us::driver::MipmappedArray;

namespace {

CUresult create(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR& d) {
  return in_current([&](Context& c) {
    Array* made = nullptr;
    US_TRY(create_array(c, d, made));
    *out = handle_to<CUarray>(made);
    return Error::Success;
  });
}

// f() → Error; what is made needs no current context
template <class F>
CUresult with_images(F&& f) {
  return initialized() ? result(f()) : CUDA_ERROR_NOT_INITIALIZED;
}

// f(Array&) → Error
template <class F>
CUresult with_array(CUarray handle, F&& f) {
  return with_images([&] {
    Array* a = runtime().arrays().find(handle);
    return a ? f(*a) : Error::InvalidHandle;
  });
}
template <class F>
CUresult with_mipmapped(CUmipmappedArray handle, F&& f) {
  return with_images([&] {
    MipmappedArray* m = runtime().arrays().find_mipmapped(handle);
    return m ? f(*m) : Error::InvalidHandle;
  });
}

}  // namespace

US_API CUresult cuArrayCreate(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* d) {
  if (!out || !d) return CUDA_ERROR_INVALID_VALUE;
  return create(out, {d->Width, d->Height, 0, d->Format, d->NumChannels, 0});
}
US_API CUresult cuArray3DCreate(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return out && d ? create(out, *d) : CUDA_ERROR_INVALID_VALUE;
}

US_API CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* out, CUarray array) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_array(array, [&](Array& a) {
    const auto d = descriptor_of(a.desc());
    *out = {d.Width, d.Height, d.Format, d.NumChannels};
    return Error::Success;
  });
}
US_API CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_array(array, [&](Array& a) {
    *out = descriptor_of(a.desc());
    return Error::Success;
  });
}

US_API CUresult cuArrayDestroy(CUarray array) {
  return with_images([&] { return runtime().arrays().destroy(array); });
}

// Only planar formats have planes, only sparse arrays tiles, only arrays mapped later requirements; there are none.
US_API CUresult cuArrayGetPlane(CUarray* out, CUarray array, unsigned) {
  return out ? with_array(array, [](Array&) { return Error::InvalidValue; }) : CUDA_ERROR_INVALID_VALUE;
}
US_API CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* out, CUarray array) {
  return out ? with_array(array, [](Array&) { return Error::InvalidValue; }) : CUDA_ERROR_INVALID_VALUE;
}
US_API CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES* out, CUmipmappedArray mipmap) {
  return out ? with_mipmapped(mipmap, [](MipmappedArray&) { return Error::InvalidValue; }) : CUDA_ERROR_INVALID_VALUE;
}
US_API CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUarray array, CUdevice d) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  return out ? with_array(array, [](Array&) { return Error::InvalidValue; }) : CUDA_ERROR_INVALID_VALUE;
}
US_API CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUmipmappedArray mipmap,
                                                      CUdevice d) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  return out ? with_mipmapped(mipmap, [](MipmappedArray&) { return Error::InvalidValue; }) : CUDA_ERROR_INVALID_VALUE;
}

US_API CUresult cuMipmappedArrayCreate(CUmipmappedArray* out, const CUDA_ARRAY3D_DESCRIPTOR* d, unsigned levels) {
  if (!out || !d) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    MipmappedArray* made = nullptr;
    US_TRY(create_mipmapped(c, *d, levels, made));
    *out = handle_to<CUmipmappedArray>(made);
    return Error::Success;
  });
}

US_API CUresult cuMipmappedArrayGetLevel(CUarray* out, CUmipmappedArray mipmap, unsigned level) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_mipmapped(mipmap, [&](MipmappedArray& m) {
    if (level >= m.levels()) return Error::InvalidValue;
    *out = handle_to<CUarray>(&m.level(level));
    return Error::Success;
  });
}

US_API CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap) {
  return with_images([&] { return runtime().arrays().destroy_mipmapped(mipmap); });
}
