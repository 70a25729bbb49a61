// SPDX-License-Identifier: Apache-2.0
// Memory Management: copies into and out of arrays. (Those with three dimensions: impl_copy.cpp.)
#include "cuda/libcudart/memory/channels.h"
#include "driver/memory/array.h"

using namespace us::cuda;
using us::driver::Array;
using us::driver::CopyKind;

namespace {

bool is_kind(cudaMemcpyKind k) { return k >= cudaMemcpyHostToHost && k <= cudaMemcpyDefault; }

// Which sides of the direction must be the device: those that are arrays.
bool into_array(cudaMemcpyKind k) {
  return k == cudaMemcpyHostToDevice || k == cudaMemcpyDeviceToDevice || k == cudaMemcpyDefault;
}
bool out_of_array(cudaMemcpyKind k) {
  return k == cudaMemcpyDeviceToHost || k == cudaMemcpyDeviceToDevice || k == cudaMemcpyDefault;
}

struct Corner {  // of the box in an array
  size_t x, y;
};
struct Linear {
  const void* p;
  size_t pitch;
};
struct Size {
  size_t width, height;
};

Error box_in(cudaArray_const_t handle, const Corner& at, const Size& size, CopyEnd& out) {
  const Array* a = find_array(handle);
  if (!a) return Error::InvalidHandle;
  return end_in_array(*a, {.x = at.x, .y = at.y, .width = size.width, .height = size.height}, out);
}

cudaError_t copy_box(const CopyEnd& dst, const CopyEnd& src, const Size& size, cudaMemcpyKind kind, cudaStream_t stream,
                     bool async) {
  return in_stream(stream, [&](Context& c, Stream& s) {
    const Box extent{.width = size.width, .height = size.height};
    return c.submit(CopyOp{copy_between(dst, src, extent), static_cast<CopyKind>(kind)}, s, async);
  });
}

cudaError_t copy_to(cudaArray_t dst, const Corner& at, const Linear& src, const Size& size, cudaMemcpyKind kind,
                    cudaStream_t stream, bool async) {
  if (!is_kind(kind) || !into_array(kind)) return done(Error::InvalidMemcpyDirection);
  if (size.width > src.pitch && size.height > 1) return done(Error::InvalidPitchValue);
  CopyEnd to;
  if (const Error e = box_in(dst, at, size, to); us::driver::failed(e)) return done(e);
  return copy_box(to, {address(src.p), src.pitch, 0, false}, size, kind, stream, async);
}

cudaError_t copy_from(const Linear& dst, cudaArray_const_t src, const Corner& at, const Size& size, cudaMemcpyKind kind,
                      cudaStream_t stream, bool async) {
  if (!is_kind(kind) || !out_of_array(kind)) return done(Error::InvalidMemcpyDirection);
  if (size.width > dst.pitch && size.height > 1) return done(Error::InvalidPitchValue);
  CopyEnd from;
  if (const Error e = box_in(src, at, size, from); us::driver::failed(e)) return done(e);
  return copy_box({address(dst.p), dst.pitch, 0, false}, from, size, kind, stream, async);
}

// Where a run of `n` bytes starts: in an array (rows follow each other) or in linear memory.
Error cursor(cudaArray_const_t handle, const Corner& at, size_t n, ArrayCursor& out) {
  const Array* a = find_array(handle);
  return a ? cursor_in(*a, at.x, at.y, n, out) : Error::InvalidHandle;
}

cudaError_t copy_run(const ArrayCursor& dst, const ArrayCursor& src, size_t n, cudaMemcpyKind kind, cudaStream_t stream,
                     bool async) {
  return in_stream(stream, [&](Context& c, Stream& s) {
    std::vector<us::driver::Copy> pieces;
    US_TRY(split_copy(dst, src, n, pieces));
    for (const auto& piece : pieces) US_TRY(c.submit(CopyOp{piece, static_cast<CopyKind>(kind)}, s, async));
    return Error::Success;
  });
}

cudaError_t run_to(cudaArray_t dst, const Corner& at, const void* src, size_t n, cudaMemcpyKind kind,
                   cudaStream_t stream, bool async) {
  if (!is_kind(kind) || !into_array(kind)) return done(Error::InvalidMemcpyDirection);
  ArrayCursor to;
  if (const Error e = cursor(dst, at, n, to); us::driver::failed(e)) return done(e);
  return copy_run(to, {nullptr, address(src)}, n, kind, stream, async);
}

cudaError_t run_from(void* dst, cudaArray_const_t src, const Corner& at, size_t n, cudaMemcpyKind kind,
                     cudaStream_t stream, bool async) {
  if (!is_kind(kind) || !out_of_array(kind)) return done(Error::InvalidMemcpyDirection);
  ArrayCursor from;
  if (const Error e = cursor(src, at, n, from); us::driver::failed(e)) return done(e);
  return copy_run({nullptr, address(dst)}, from, n, kind, stream, async);
}

}  // namespace

US_API cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void* src, size_t pitch, size_t width,
                                       size_t height, cudaMemcpyKind kind) {
  return copy_to(dst, {x, y}, {src, pitch}, {width, height}, kind, nullptr, false);
}
US_PTDS(cudaMemcpy2DToArray,
        (cudaArray_t dst, size_t x, size_t y, const void* src, size_t pitch, size_t w, size_t h, cudaMemcpyKind kind),
        (dst, x, y, src, pitch, w, h, kind))

US_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void* src, size_t pitch,
                                            size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_to(dst, {x, y}, {src, pitch}, {width, height}, kind, stream, true);
}
US_PTSZ(cudaMemcpy2DToArrayAsync,
        (cudaArray_t dst, size_t x, size_t y, const void* src, size_t pitch, size_t w, size_t h, cudaMemcpyKind kind,
         cudaStream_t stream),
        (dst, x, y, src, pitch, w, h, kind, stream))

US_API cudaError_t cudaMemcpy2DFromArray(void* dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y,
                                         size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_from({dst, pitch}, src, {x, y}, {width, height}, kind, nullptr, false);
}
US_PTDS(cudaMemcpy2DFromArray,
        (void* dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t w, size_t h, cudaMemcpyKind kind),
        (dst, pitch, src, x, y, w, h, kind))

US_API cudaError_t cudaMemcpy2DFromArrayAsync(void* dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y,
                                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_from({dst, pitch}, src, {x, y}, {width, height}, kind, stream, true);
}
US_PTSZ(cudaMemcpy2DFromArrayAsync,
        (void* dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t w, size_t h, cudaMemcpyKind kind,
         cudaStream_t stream),
        (dst, pitch, src, x, y, w, h, kind, stream))

US_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t to_x, size_t to_y, cudaArray_const_t src, size_t x,
                                            size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return done(Error::InvalidMemcpyDirection);
  CopyEnd to, from;
  Error e = box_in(dst, {to_x, to_y}, {width, height}, to);
  if (!us::driver::failed(e)) e = box_in(src, {x, y}, {width, height}, from);
  return us::driver::failed(e) ? done(e) : copy_box(to, from, {width, height}, kind, nullptr, false);
}
US_PTDS(cudaMemcpy2DArrayToArray,
        (cudaArray_t dst, size_t to_x, size_t to_y, cudaArray_const_t src, size_t x, size_t y, size_t w, size_t h,
         cudaMemcpyKind kind),
        (dst, to_x, to_y, src, x, y, w, h, kind))

US_API cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void* src, size_t n,
                                     cudaMemcpyKind kind) {
  return run_to(dst, {x, y}, src, n, kind, nullptr, false);
}
US_PTDS(cudaMemcpyToArray, (cudaArray_t dst, size_t x, size_t y, const void* src, size_t n, cudaMemcpyKind kind),
        (dst, x, y, src, n, kind))

US_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void* src, size_t n,
                                          cudaMemcpyKind kind, cudaStream_t stream) {
  return run_to(dst, {x, y}, src, n, kind, stream, true);
}
US_PTSZ(cudaMemcpyToArrayAsync,
        (cudaArray_t dst, size_t x, size_t y, const void* src, size_t n, cudaMemcpyKind kind, cudaStream_t stream),
        (dst, x, y, src, n, kind, stream))

US_API cudaError_t cudaMemcpyFromArray(void* dst, cudaArray_const_t src, size_t x, size_t y, size_t n,
                                       cudaMemcpyKind kind) {
  return run_from(dst, src, {x, y}, n, kind, nullptr, false);
}
US_PTDS(cudaMemcpyFromArray, (void* dst, cudaArray_const_t src, size_t x, size_t y, size_t n, cudaMemcpyKind kind),
        (dst, src, x, y, n, kind))

US_API cudaError_t cudaMemcpyFromArrayAsync(void* dst, cudaArray_const_t src, size_t x, size_t y, size_t n,
                                            cudaMemcpyKind kind, cudaStream_t stream) {
  return run_from(dst, src, {x, y}, n, kind, stream, true);
}
US_PTSZ(cudaMemcpyFromArrayAsync,
        (void* dst, cudaArray_const_t src, size_t x, size_t y, size_t n, cudaMemcpyKind kind, cudaStream_t stream),
        (dst, src, x, y, n, kind, stream))

US_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t to_x, size_t to_y, cudaArray_const_t src, size_t x,
                                          size_t y, size_t n, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault) return done(Error::InvalidMemcpyDirection);
  ArrayCursor to, from;
  Error e = cursor(dst, {to_x, to_y}, n, to);
  if (!us::driver::failed(e)) e = cursor(src, {x, y}, n, from);
  return us::driver::failed(e) ? done(e) : copy_run(to, from, n, kind, nullptr, false);
}
US_PTDS(cudaMemcpyArrayToArray,
        (cudaArray_t dst, size_t to_x, size_t to_y, cudaArray_const_t src, size_t x, size_t y, size_t n,
         cudaMemcpyKind kind),
        (dst, to_x, to_y, src, x, y, n, kind))
