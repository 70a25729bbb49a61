// SPDX-License-Identifier: Apache-2.0
// Memory Management: copies and sets of linear memory; copies of three dimensions, arrays included.
#include "cuda/libcudart/memory/channels.h"
#include "cuda/libcudart/memory/copies.h"
#include "driver/memory/array.h"

using namespace us::cuda;
using us::driver::Copy;
using us::driver::CopyKind;
using us::driver::Fill;

namespace {

cudaError_t copy(const Copy& c, cudaMemcpyKind kind, cudaStream_t stream, bool async) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return done(Error::InvalidMemcpyDirection);
  return in_stream(stream, [&](Context& context, Stream& s) {
    return context.submit(CopyOp{c, static_cast<CopyKind>(kind)}, s, async);
  });
}

cudaError_t copy_1d(void* dst, const void* src, size_t n, cudaMemcpyKind kind, cudaStream_t stream, bool async) {
  return copy({.dst = address(dst), .src = address(src), .width = n}, kind, stream, async);
}

cudaError_t copy_2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t w, size_t h, cudaMemcpyKind kind,
                    cudaStream_t stream, bool async) {
  if (w > dpitch || w > spitch) return done(Error::InvalidPitchValue);
  return copy(
      {.dst = address(dst), .src = address(src), .width = w, .height = h, .dst_pitch = dpitch, .src_pitch = spitch},
      kind, stream, async);
}

// One end of a 3-D copy: an array, whose texels are the unit of x and of the extent's width, or pitched memory.
Error end_of(cudaArray_t array, const cudaPitchedPtr& p, const cudaPos& at, const Box& extent, us::u64 unit,
             CopyEnd& out) {
  if ((array != nullptr) == (p.ptr != nullptr)) return Error::InvalidValue;
  if (array) {
    const us::driver::Array* a = find_array(array);
    if (!a) return Error::InvalidHandle;
    Box b = extent;
    b.x = at.x * unit;
    b.y = at.y;
    b.z = at.z;
    return end_in_array(*a, b, out);
  }
  const bool rows = extent.height > 1 || extent.depth > 1;
  const us::u64 x = at.x * unit;  // the header says bytes; where an array takes part, the real thing counts its texels
  if (rows && x + extent.width > p.pitch) return unit == 1 ? Error::InvalidPitchValue : Error::InvalidValue;
  const us::u64 slice = p.pitch * p.ysize;
  out = {address(p.ptr) + x + at.y * p.pitch + at.z * slice, p.pitch, slice, false};
  return Error::Success;
}

// Bytes of a texel of the arrays that take part; 1 if none does. Two arrays must agree.
Error unit_of(cudaArray_t dst, cudaArray_t src, us::u64& unit) {
  unit = 1;
  for (const cudaArray_t handle : {dst, src}) {
    if (!handle) continue;
    const us::driver::Array* a = find_array(handle);
    if (!a) return Error::InvalidHandle;
    const us::u64 texel = a->desc().format.texel_bytes();
    if (unit != 1 && unit != texel) return Error::InvalidValue;
    unit = texel;
  }
  return Error::Success;
}

struct Ends3d {
  cudaArray_t dst_array, src_array;
  cudaPitchedPtr dst, src;
  cudaPos dst_pos, src_pos;
  cudaExtent extent;
};

Error copy_of(const Ends3d& p, Copy& out) {
  us::u64 unit = 1;
  CopyEnd dst, src;
  US_TRY(unit_of(p.dst_array, p.src_array, unit));
  const Box extent{.width = p.extent.width * unit, .height = p.extent.height, .depth = p.extent.depth};
  US_TRY(end_of(p.dst_array, p.dst, p.dst_pos, extent, unit, dst));
  US_TRY(end_of(p.src_array, p.src, p.src_pos, extent, unit, src));
  out = copy_between(dst, src, extent);
  return Error::Success;
}

bool empty(const cudaExtent& e) { return e.width == 0 || e.height == 0 || e.depth == 0; }

}  // namespace

Error us::cuda::copy_of(const cudaMemcpy3DParms& p, Copy& out) {
  if (p.kind < cudaMemcpyHostToHost || p.kind > cudaMemcpyDefault) return Error::InvalidMemcpyDirection;
  return copy_of(Ends3d{p.dstArray, p.srcArray, p.dstPtr, p.srcPtr, p.dstPos, p.srcPos, p.extent}, out);
}

namespace {

cudaError_t copy_3d(const cudaMemcpy3DParms* p, cudaStream_t stream, bool async) {
  if (!p) return done(Error::InvalidValue);
  if (p->kind < cudaMemcpyHostToHost || p->kind > cudaMemcpyDefault) return done(Error::InvalidMemcpyDirection);
  if (empty(p->extent)) return cudaSuccess;
  Copy c;
  const Error e = copy_of(Ends3d{p->dstArray, p->srcArray, p->dstPtr, p->srcPtr, p->dstPos, p->srcPos, p->extent}, c);
  return us::driver::failed(e) ? done(e) : copy(c, p->kind, stream, async);
}

bool valid_device(int d) { return d >= 0 && static_cast<us::u32>(d) < runtime().device_count(); }

cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* p, cudaStream_t stream, bool async) {
  if (!p) return done(Error::InvalidValue);
  if (!valid_device(p->dstDevice) || !valid_device(p->srcDevice)) return done(Error::InvalidDevice);
  if (empty(p->extent)) return cudaSuccess;
  Copy c;
  const Error e = copy_of(Ends3d{p->dstArray, p->srcArray, p->dstPtr, p->srcPtr, p->dstPos, p->srcPos, p->extent}, c);
  return us::driver::failed(e) ? done(e) : copy(c, cudaMemcpyDefault, stream, async);
}

cudaError_t fill(const Fill& f, cudaStream_t stream, bool async) {
  return in_stream(stream, [&](Context& c, Stream& s) { return c.submit(FillOp{f}, s, async); });
}

Fill fill_1d(void* p, int value, size_t n) {
  return {.dst = address(p), .width = n, .value = static_cast<us::u32>(value)};
}

Fill fill_2d(void* p, size_t pitch, int value, size_t w, size_t h) {
  return {.dst = address(p), .pitch = pitch, .width = w, .height = h, .value = static_cast<us::u32>(value)};
}

Fill fill_3d(const cudaPitchedPtr& p, int value, const cudaExtent& e) {
  return {.dst = address(p.ptr),
          .pitch = p.pitch,
          .slice = p.pitch * p.ysize,
          .width = e.width,
          .height = e.height,
          .depth = e.depth,
          .value = static_cast<us::u32>(value)};
}

}  // namespace

US_API cudaError_t cudaMemcpy(void* dst, const void* src, size_t n, cudaMemcpyKind kind) {
  return copy_1d(dst, src, n, kind, nullptr, false);
}
US_PTDS(cudaMemcpy, (void* dst, const void* src, size_t n, cudaMemcpyKind kind), (dst, src, n, kind))

US_API cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t n, cudaMemcpyKind kind, cudaStream_t s) {
  return copy_1d(dst, src, n, kind, s, true);
}
US_PTSZ(cudaMemcpyAsync, (void* dst, const void* src, size_t n, cudaMemcpyKind kind, cudaStream_t s),
        (dst, src, n, kind, s))

US_API cudaError_t cudaMemcpyPeer(void* dst, int to, const void* src, int from, size_t n) {
  if (!valid_device(to) || !valid_device(from)) return done(Error::InvalidDevice);
  return copy({.dst = address(dst), .src = address(src), .width = n, .dst_device = to, .src_device = from},
              cudaMemcpyDeviceToDevice, nullptr, false);
}
US_API cudaError_t cudaMemcpyPeerAsync(void* dst, int to, const void* src, int from, size_t n, cudaStream_t s) {
  if (!valid_device(to) || !valid_device(from)) return done(Error::InvalidDevice);
  if (const cudaError_t e = in_stream(s, [](Context& c, Stream& t) { return c.not_captured(t); }); e != cudaSuccess)
    return e;
  return copy({.dst = address(dst), .src = address(src), .width = n, .dst_device = to, .src_device = from},
              cudaMemcpyDeviceToDevice, s, true);
}

US_API cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t w, size_t h,
                                cudaMemcpyKind kind) {
  return copy_2d(dst, dpitch, src, spitch, w, h, kind, nullptr, false);
}
US_PTDS(cudaMemcpy2D,
        (void* dst, size_t dpitch, const void* src, size_t spitch, size_t w, size_t h, cudaMemcpyKind kind),
        (dst, dpitch, src, spitch, w, h, kind))

US_API cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t w, size_t h,
                                     cudaMemcpyKind kind, cudaStream_t s) {
  return copy_2d(dst, dpitch, src, spitch, w, h, kind, s, true);
}
US_PTSZ(cudaMemcpy2DAsync,
        (void* dst, size_t dpitch, const void* src, size_t spitch, size_t w, size_t h, cudaMemcpyKind kind,
         cudaStream_t s),
        (dst, dpitch, src, spitch, w, h, kind, s))

US_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) { return copy_3d(p, nullptr, false); }
US_PTDS(cudaMemcpy3D, (const cudaMemcpy3DParms* p), (p))

US_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t s) { return copy_3d(p, s, true); }
US_PTSZ(cudaMemcpy3DAsync, (const cudaMemcpy3DParms* p, cudaStream_t s), (p, s))

US_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) { return copy_3d_peer(p, nullptr, false); }
US_PTDS(cudaMemcpy3DPeer, (const cudaMemcpy3DPeerParms* p), (p))

US_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t s) {
  return copy_3d_peer(p, s, true);
}
US_PTSZ(cudaMemcpy3DPeerAsync, (const cudaMemcpy3DPeerParms* p, cudaStream_t s), (p, s))

US_API cudaError_t cudaMemset(void* p, int value, size_t n) { return fill(fill_1d(p, value, n), nullptr, false); }
US_PTDS(cudaMemset, (void* p, int value, size_t n), (p, value, n))

US_API cudaError_t cudaMemsetAsync(void* p, int value, size_t n, cudaStream_t s) {
  return fill(fill_1d(p, value, n), s, true);
}
US_PTSZ(cudaMemsetAsync, (void* p, int value, size_t n, cudaStream_t s), (p, value, n, s))

US_API cudaError_t cudaMemset2D(void* p, size_t pitch, int value, size_t w, size_t h) {
  return fill(fill_2d(p, pitch, value, w, h), nullptr, false);
}
US_PTDS(cudaMemset2D, (void* p, size_t pitch, int value, size_t w, size_t h), (p, pitch, value, w, h))

US_API cudaError_t cudaMemset2DAsync(void* p, size_t pitch, int value, size_t w, size_t h, cudaStream_t s) {
  return fill(fill_2d(p, pitch, value, w, h), s, true);
}
US_PTSZ(cudaMemset2DAsync, (void* p, size_t pitch, int value, size_t w, size_t h, cudaStream_t s),
        (p, pitch, value, w, h, s))

US_API cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent e) {
  return fill(fill_3d(p, value, e), nullptr, false);
}
US_PTDS(cudaMemset3D, (cudaPitchedPtr p, int value, cudaExtent e), (p, value, e))

US_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent e, cudaStream_t s) {
  return fill(fill_3d(p, value, e), s, true);
}
US_PTSZ(cudaMemset3DAsync, (cudaPitchedPtr p, int value, cudaExtent e, cudaStream_t s), (p, value, e, s))
