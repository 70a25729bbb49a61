// SPDX-License-Identifier: Apache-2.0
// Memory Management: copies of one dimension and sets, of linear memory. (The others: impl_array_copy.cpp.)
#include "cuda/libcuda/driver_api.h"

using namespace us::cuda;
using us::driver::Copy;
using us::driver::CopyKind;
using us::driver::Fill;

namespace {

constexpr bool kSync = false, kAsync = true;

CUresult copy(const Copy& c, CopyKind kind, CUstream stream, bool async) {
  return in_stream(stream, [&](Context& context, Stream& s) { return context.submit(CopyOp{c, kind}, s, async); });
}
us::u64 host(const void* p) { return reinterpret_cast<us::u64>(p); }

CUresult fill(const Fill& f, CUstream stream, bool async) {
  return in_stream(stream, [&](Context& c, Stream& s) { return c.submit(FillOp{f}, s, async); });
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

namespace {
us::i32 device_of(CUcontext handle) {
  const Context* c = runtime().find_context(handle);
  return c ? static_cast<us::i32>(c->device().ordinal()) : -1;
}
}  // namespace

US_API CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n) {
  return copy({.dst = dst, .src = src, .width = n, .dst_device = device_of(to), .src_device = device_of(from)},
              CopyKind::DeviceToDevice, nullptr, kSync);
}
US_PTDS(cuMemcpyPeer, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n),
        (dst, to, src, from, n))
US_API CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n,
                                  CUstream s) {
  if (const CUresult e = in_stream(s, [](Context& c, Stream& t) { return c.not_captured(t); })) return e;
  return copy({.dst = dst, .src = src, .width = n, .dst_device = device_of(to), .src_device = device_of(from)},
              CopyKind::DeviceToDevice, s, kAsync);
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
