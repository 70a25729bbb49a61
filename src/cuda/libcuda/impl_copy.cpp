// SPDX-License-Identifier: Apache-2.0
// Memory Management: copies and sets of linear memory. (Arrays are refused by name: see entry_points.inc.)
#include "cuda/libcuda/du.h"

using namespace us::cuda;
using us::driver::Copy;
using us::driver::CopyKind;
using us::driver::Fill;

namespace {

constexpr bool kSync = false, kAsync = true;

CUresult copy(const Copy& c, CopyKind kind, CUstream stream, bool async) {
  return in_stream(stream, [&](Context& context, Stream& s) { return context.copy(c, kind, s, async); });
}
us::u64 host(const void* p) { return reinterpret_cast<us::u64>(p); }

CUresult fill(const Fill& f, CUstream stream, bool async) {
  return in_stream(stream, [&](Context& c, Stream& s) { return c.fill(f, s, async); });
}

// One end of a 2-D or 3-D copy, from its group of fields.
struct End {
  us::u64 start = 0, pitch = 0, slice = 0;
  bool device = false;
};

Error end_of(CUmemorytype type, const void* on_host, CUdeviceptr on_device, size_t x, size_t y, size_t z, size_t pitch,
             size_t height, End& out) {
  if (type == CU_MEMORYTYPE_ARRAY) return Error::NotSupported;
  if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
    return Error::InvalidValue;
  out.pitch = pitch;
  out.slice = pitch * height;
  out.device = type == CU_MEMORYTYPE_DEVICE;
  out.start = (type == CU_MEMORYTYPE_HOST ? host(on_host) : on_device) + x + y * pitch + z * out.slice;
  return Error::Success;
}

CopyKind kind_of(const End& dst, const End& src) {
  if (dst.device) return src.device ? CopyKind::DeviceToDevice : CopyKind::HostToDevice;
  return src.device ? CopyKind::DeviceToHost : CopyKind::Default;
}

CUresult copy_2d(const CUDA_MEMCPY2D* p, CUstream stream, bool async) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  End dst, src;
  const size_t w = p->WidthInBytes, h = p->Height;
  Error e = end_of(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes, p->srcY, 0,
                   p->srcPitch ? p->srcPitch : w, h, src);
  if (!us::driver::failed(e))
    e = end_of(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes, p->dstY, 0, p->dstPitch ? p->dstPitch : w, h,
               dst);
  if (us::driver::failed(e)) return result(e);
  if (w > src.pitch || w > dst.pitch) return CUDA_ERROR_INVALID_VALUE;
  return copy(
      {.dst = dst.start, .src = src.start, .width = w, .height = h, .dst_pitch = dst.pitch, .src_pitch = src.pitch},
      kind_of(dst, src), stream, async);
}

CUresult copy_3d(const CUDA_MEMCPY3D* p, CUstream stream, bool async) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  End dst, src;
  const size_t w = p->WidthInBytes, h = p->Height;
  Error e = end_of(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes, p->srcY, p->srcZ,
                   p->srcPitch ? p->srcPitch : w, p->srcHeight ? p->srcHeight : h, src);
  if (!us::driver::failed(e))
    e = end_of(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes, p->dstY, p->dstZ,
               p->dstPitch ? p->dstPitch : w, p->dstHeight ? p->dstHeight : h, dst);
  if (us::driver::failed(e)) return result(e);
  if (w > src.pitch || w > dst.pitch) return CUDA_ERROR_INVALID_VALUE;
  return copy({.dst = dst.start,
               .src = src.start,
               .width = w,
               .height = h,
               .depth = p->Depth,
               .dst_pitch = dst.pitch,
               .src_pitch = src.pitch,
               .dst_slice = dst.slice,
               .src_slice = src.slice},
              kind_of(dst, src), stream, async);
}

}  // namespace

US_API CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t n) {
  return copy({.dst = dst, .src = src, .width = n}, CopyKind::Default, nullptr, kSync);
}
US_PTDS(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t n), (dst, src, n))
US_API CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) {
  return copy({.dst = dst, .src = src, .width = n}, CopyKind::Default, s, kAsync);
}
US_PTSZ(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s), (dst, src, n, s))

US_API CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext, CUdeviceptr src, CUcontext, size_t n) {
  return copy({.dst = dst, .src = src, .width = n}, CopyKind::DeviceToDevice, nullptr, kSync);
}
US_PTDS(cuMemcpyPeer, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n),
        (dst, to, src, from, n))
US_API CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext, CUdeviceptr src, CUcontext, size_t n, CUstream s) {
  return copy({.dst = dst, .src = src, .width = n}, CopyKind::DeviceToDevice, s, kAsync);
}
US_PTSZ(cuMemcpyPeerAsync, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n, CUstream s),
        (dst, to, src, from, n, s))

US_API CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void* src, size_t n) {
  return copy({.dst = dst, .src = host(src), .width = n}, CopyKind::HostToDevice, nullptr, kSync);
}
US_PTDS(cuMemcpyHtoD_v2, (CUdeviceptr dst, const void* src, size_t n), (dst, src, n))
US_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void* src, size_t n, CUstream s) {
  return copy({.dst = dst, .src = host(src), .width = n}, CopyKind::HostToDevice, s, kAsync);
}
US_PTSZ(cuMemcpyHtoDAsync_v2, (CUdeviceptr dst, const void* src, size_t n, CUstream s), (dst, src, n, s))

US_API CUresult cuMemcpyDtoH_v2(void* dst, CUdeviceptr src, size_t n) {
  return copy({.dst = host(dst), .src = src, .width = n}, CopyKind::DeviceToHost, nullptr, kSync);
}
US_PTDS(cuMemcpyDtoH_v2, (void* dst, CUdeviceptr src, size_t n), (dst, src, n))
US_API CUresult cuMemcpyDtoHAsync_v2(void* dst, CUdeviceptr src, size_t n, CUstream s) {
  return copy({.dst = host(dst), .src = src, .width = n}, CopyKind::DeviceToHost, s, kAsync);
}
US_PTSZ(cuMemcpyDtoHAsync_v2, (void* dst, CUdeviceptr src, size_t n, CUstream s), (dst, src, n, s))

US_API CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t n) {
  return copy({.dst = dst, .src = src, .width = n}, CopyKind::DeviceToDevice, nullptr, kSync);
}
US_PTDS(cuMemcpyDtoD_v2, (CUdeviceptr dst, CUdeviceptr src, size_t n), (dst, src, n))
US_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) {
  return copy({.dst = dst, .src = src, .width = n}, CopyKind::DeviceToDevice, s, kAsync);
}
US_PTSZ(cuMemcpyDtoDAsync_v2, (CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s), (dst, src, n, s))

US_API CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* p) { return copy_2d(p, nullptr, kSync); }
US_PTDS(cuMemcpy2D_v2, (const CUDA_MEMCPY2D* p), (p))
US_API CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* p) { return copy_2d(p, nullptr, kSync); }
US_PTDS(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D* p), (p))
US_API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* p, CUstream s) { return copy_2d(p, s, kAsync); }
US_PTSZ(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D* p, CUstream s), (p, s))
US_API CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* p) { return copy_3d(p, nullptr, kSync); }
US_PTDS(cuMemcpy3D_v2, (const CUDA_MEMCPY3D* p), (p))
US_API CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* p, CUstream s) { return copy_3d(p, s, kAsync); }
US_PTSZ(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D* p, CUstream s), (p, s))

// cuMemset[2]D{8,16,32}[Async], each with its variant for the per-thread default stream.
#define US_MEMSET(bits, type)                                                                                          \
  US_API CUresult cuMemsetD##bits##_v2(CUdeviceptr p, type v, size_t n) {                                              \
    return fill({.dst = p, .width = n, .value = v, .element = bits / 8}, nullptr, kSync);                              \
  }                                                                                                                    \
  US_PTDS(cuMemsetD##bits##_v2, (CUdeviceptr p, type v, size_t n), (p, v, n))                                          \
  US_API CUresult cuMemsetD##bits##Async(CUdeviceptr p, type v, size_t n, CUstream s) {                                \
    return fill({.dst = p, .width = n, .value = v, .element = bits / 8}, s, kAsync);                                   \
  }                                                                                                                    \
  US_PTSZ(cuMemsetD##bits##Async, (CUdeviceptr p, type v, size_t n, CUstream s), (p, v, n, s))                         \
  US_API CUresult cuMemsetD2D##bits##_v2(CUdeviceptr p, size_t pitch, type v, size_t w, size_t h) {                    \
    return fill({.dst = p, .pitch = pitch, .width = w, .height = h, .value = v, .element = bits / 8}, nullptr, kSync); \
  }                                                                                                                    \
  US_PTDS(cuMemsetD2D##bits##_v2, (CUdeviceptr p, size_t pitch, type v, size_t w, size_t h), (p, pitch, v, w, h))      \
  US_API CUresult cuMemsetD2D##bits##Async(CUdeviceptr p, size_t pitch, type v, size_t w, size_t h, CUstream s) {      \
    return fill({.dst = p, .pitch = pitch, .width = w, .height = h, .value = v, .element = bits / 8}, s, kAsync);      \
  }                                                                                                                    \
  US_PTSZ(cuMemsetD2D##bits##Async, (CUdeviceptr p, size_t pitch, type v, size_t w, size_t h, CUstream s),             \
          (p, pitch, v, w, h, s))
US_MEMSET(8, unsigned char)
US_MEMSET(16, unsigned short)
US_MEMSET(32, unsigned)
