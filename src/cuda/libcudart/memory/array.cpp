// SPDX-License-Identifier: Apache-2.0
// Memory Management: arrays and mipmapped arrays.
#include "driver/memory/array.h"
#include "cuda/devices.h"
#include "cuda/libcudart/memory/channels.h"

using namespace us::cuda;
using us::driver::Array;
using us::driver::MipmappedArray;

namespace {

Error descriptor(const cudaChannelFormatDesc* desc, const cudaExtent& e, unsigned flags, CUDA_ARRAY3D_DESCRIPTOR& out) {
  if (!desc) return Error::InvalidValue;
  us::u32 channels = 0;
  out = CUDA_ARRAY3D_DESCRIPTOR();
  out.Width = e.width, out.Height = e.height, out.Depth = e.depth, out.Flags = flags;
  US_TRY(channels_to_format(*desc, out.Format, channels));
  out.NumChannels = channels;
  return Error::Success;
}

cudaError_t create(cudaArray_t* out, const cudaChannelFormatDesc* desc, const cudaExtent& e, unsigned flags) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    CUDA_ARRAY3D_DESCRIPTOR d;
    Array* made = nullptr;
    US_TRY(descriptor(desc, e, flags, d));
    US_TRY(create_array(c, d, made));
    *out = reinterpret_cast<cudaArray_t>(made);
    return Error::Success;
  });
}

// f(Array&) → Error
template <class F>
cudaError_t with_array(cudaArray_const_t handle, F&& f) {
  Array* a = find_array(handle);
  return done(a ? f(*a) : Error::InvalidHandle);
}
template <class F>
cudaError_t with_mipmapped(cudaMipmappedArray_const_t handle, F&& f) {
  MipmappedArray* m = runtime().arrays().find_mipmapped(handle);
  return done(m ? f(*m) : Error::InvalidHandle);
}

}  // namespace

US_API cudaError_t cudaMallocArray(cudaArray_t* out, const cudaChannelFormatDesc* desc, size_t width, size_t height,
                                   unsigned flags) {
  if (flags & (cudaArrayLayered | cudaArrayCubemap)) return done(Error::InvalidValue);
  return create(out, desc, {width, height, 0}, flags);
}

US_API cudaError_t cudaMalloc3DArray(cudaArray_t* out, const cudaChannelFormatDesc* desc, cudaExtent extent,
                                     unsigned flags) {
  return create(out, desc, extent, flags);
}

US_API cudaError_t cudaFreeArray(cudaArray_t array) {
  return in_context([&](Context&) { return array ? runtime().arrays().destroy(array) : Error::Success; });
}

US_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags,
                                    cudaArray_t array) {
  return with_array(array, [&](Array& a) {
    const auto& d = a.desc();
    if (desc) *desc = channels_of(d.format);
    if (extent) *extent = {d.width, d.height, d.depth};
    if (flags) *flags = d.flags;
    return Error::Success;
  });
}

US_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  if (!desc) return done(Error::InvalidValue);
  return with_array(array, [&](Array& a) {
    *desc = channels_of(a.desc().format);
    return Error::Success;
  });
}

// Only planar formats have planes, only sparse arrays tiles; there are none of either.
US_API cudaError_t cudaArrayGetPlane(cudaArray_t* out, cudaArray_t array, unsigned) {
  if (!out) return done(Error::InvalidValue);
  return with_array(array, [](Array&) { return Error::InvalidValue; });
}
US_API cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties* out, cudaArray_t array) {
  if (!out) return done(Error::InvalidValue);
  return with_array(array, [](Array&) { return Error::InvalidValue; });
}
US_API cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties* out, cudaMipmappedArray_t mipmap) {
  if (!out) return done(Error::InvalidValue);
  return with_mipmapped(mipmap, [](MipmappedArray&) { return Error::InvalidValue; });
}

// Memory requirements are told of arrays whose memory is mapped later, which cannot be made here.
US_API cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* out, cudaArray_t array, int device) {
  if (!out || !is_device(device)) return done(Error::InvalidValue);
  return with_array(array, [](Array&) { return Error::InvalidValue; });
}
US_API cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* out,
                                                           cudaMipmappedArray_t mipmap, int device) {
  if (!out || !is_device(device)) return done(Error::InvalidValue);
  return with_mipmapped(mipmap, [](MipmappedArray&) { return Error::InvalidValue; });
}

US_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* out, const cudaChannelFormatDesc* desc,
                                            cudaExtent extent, unsigned levels, unsigned flags) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    CUDA_ARRAY3D_DESCRIPTOR d;
    MipmappedArray* made = nullptr;
    US_TRY(descriptor(desc, extent, flags, d));
    US_TRY(create_mipmapped(c, d, levels, made));
    *out = reinterpret_cast<cudaMipmappedArray_t>(made);
    return Error::Success;
  });
}

US_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* out, cudaMipmappedArray_const_t mipmap, unsigned level) {
  if (!out) return done(Error::InvalidValue);
  return with_mipmapped(mipmap, [&](MipmappedArray& m) {
    if (level >= m.levels()) return Error::InvalidValue;
    *out = reinterpret_cast<cudaArray_t>(&m.level(level));
    return Error::Success;
  });
}

US_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
  return in_context([&](Context&) { return mipmap ? runtime().arrays().destroy_mipmapped(mipmap) : Error::Success; });
}
