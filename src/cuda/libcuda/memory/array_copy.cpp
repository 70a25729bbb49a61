// SPDX-License-Identifier: Apache-2.0
// Memory Management: copies of one dimension into and out of arrays, of two and three dimensions between anything.
#include "cuda/libcuda/memory/array_copy.h"
#include "cuda/libcuda/driver_api.h"
#include "cuda/memory/images.h"
#include "driver/memory/array.h"

using namespace us::cuda;
using us::driver::Array;
using us::driver::Copy;
using us::driver::CopyKind;

namespace {

constexpr bool kSync = false, kAsync = true;

us::u64 host(const void* p) { return reinterpret_cast<us::u64>(p); }

// One end of a 2-D or 3-D copy, as its group of fields says.
struct End {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z, pitch, height;
  bool on_device() const { return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_ARRAY; }
};

Error locate(const End& e, const Box& extent, CopyEnd& out) {
  if (e.type == CU_MEMORYTYPE_ARRAY) {
    const Array* a = runtime().arrays().find(e.array);
    if (!a) return Error::InvalidHandle;
    Box b = extent;
    b.x = e.x;
    b.y = e.y;
    b.z = e.z;
    return end_in_array(*a, b, out);
  }
  if (e.type != CU_MEMORYTYPE_HOST && e.type != CU_MEMORYTYPE_DEVICE && e.type != CU_MEMORYTYPE_UNIFIED)
    return Error::InvalidValue;
  const size_t pitch = e.pitch ? e.pitch : extent.width, slice = pitch * (e.height ? e.height : extent.height);
  const bool rows = extent.height > 1 || extent.depth > 1;
  if (rows && e.x + extent.width > pitch) return Error::InvalidValue;
  if (extent.depth > 1 && e.height && e.height < e.y + extent.height) return Error::InvalidValue;
  const us::u64 base = e.type == CU_MEMORYTYPE_HOST ? host(e.host) : e.device;
  if (!base && extent.width && extent.height && extent.depth) return Error::InvalidValue;
  out = {base + e.x + e.y * pitch + e.z * slice, pitch, slice, false};
  return Error::Success;
}

CopyKind kind_of(const End& dst, const End& src) {
  if (dst.type == CU_MEMORYTYPE_UNIFIED || src.type == CU_MEMORYTYPE_UNIFIED) return CopyKind::Default;
  if (dst.on_device()) return src.on_device() ? CopyKind::DeviceToDevice : CopyKind::HostToDevice;
  return src.on_device() ? CopyKind::DeviceToHost : CopyKind::Default;
}

CUresult copy_box(const End& to, const End& from, const Box& extent, CUstream stream, bool async) {
  return in_stream(stream, [&](Context& c, Stream& s) {
    CopyEnd dst, src;
    US_TRY(locate(from, extent, src));
    US_TRY(locate(to, extent, dst));
    return c.submit(CopyOp{copy_between(dst, src, extent), kind_of(to, from)}, s, async);
  });
}

CUresult copy_2d(const CUDA_MEMCPY2D* p, CUstream stream, bool async) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  const End src{p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes, p->srcY, 0, p->srcPitch, 0};
  const End dst{p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes, p->dstY, 0, p->dstPitch, 0};
  return copy_box(dst, src, {.width = p->WidthInBytes, .height = p->Height}, stream, async);
}

// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER name their fields alike.
template <class Params>
CUresult copy_3d(const Params* p, CUstream stream, bool async) {
  if (!p || p->srcLOD || p->dstLOD) return CUDA_ERROR_INVALID_VALUE;
  const End src{p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes,
                p->srcY,          p->srcZ,    p->srcPitch,  p->srcHeight};
  const End dst{p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes,
                p->dstY,          p->dstZ,    p->dstPitch,  p->dstHeight};
  return copy_box(dst, src, {.width = p->WidthInBytes, .height = p->Height, .depth = p->Depth}, stream, async);
}

// An array knows its context, whatever is named for it; and an H100 takes it that none is named for other ends.
bool names_context(CUmemorytype type, CUcontext c) {
  return type == CU_MEMORYTYPE_ARRAY || !c || runtime().find_context(c);
}

CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER* p, CUstream stream, bool async) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  if (!names_context(p->srcMemoryType, p->srcContext) || !names_context(p->dstMemoryType, p->dstContext))
    return initialized() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_NOT_INITIALIZED;
  return copy_3d(p, stream, async);
}

}  // namespace

Error us::cuda::copy_of(const CUDA_MEMCPY3D& p, Copy& out, CopyKind& kind) {
  if (p.srcLOD || p.dstLOD) return Error::InvalidValue;
  const End from{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
                 p.srcY,          p.srcZ,    p.srcPitch,  p.srcHeight};
  const End to{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
               p.dstY,          p.dstZ,    p.dstPitch,  p.dstHeight};
  const Box extent{.width = p.WidthInBytes, .height = p.Height, .depth = p.Depth};
  CopyEnd dst, src;
  US_TRY(locate(from, extent, src));
  US_TRY(locate(to, extent, dst));
  out = copy_between(dst, src, extent);
  kind = kind_of(to, from);
  return Error::Success;
}

namespace {

// A run of bytes: from an offset in an array of one dimension, or in the first row of others.
struct Run {
  CUarray array;
  size_t at;
};

Error cursor(const Run& r, size_t n, ArrayCursor& out) {
  if (!r.array) {
    out = {nullptr, r.at};
    return Error::Success;
  }
  const Array* a = runtime().arrays().find(r.array);
  if (!a) return Error::InvalidHandle;
  return cursor_in(*a, r.at % a->row_bytes(), r.at / a->row_bytes(), n, out);
}

CUresult copy_run(const Run& to, const Run& from, size_t n, CopyKind kind, CUstream stream, bool async) {
  return in_stream(stream, [&](Context& c, Stream& s) {
    ArrayCursor dst, src;
    std::vector<Copy> pieces;
    US_TRY(cursor(to, n, dst));
    US_TRY(cursor(from, n, src));
    US_TRY(split_copy(dst, src, n, pieces));
    for (const Copy& piece : pieces) US_TRY(c.submit(CopyOp{piece, kind}, s, async));
    return Error::Success;
  });
}

}  // namespace

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
US_API CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* p) { return copy_3d_peer(p, nullptr, kSync); }
US_PTDS(cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER* p), (p))
US_API CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* p, CUstream s) { return copy_3d_peer(p, s, kAsync); }
US_PTSZ(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER* p, CUstream s), (p, s))

US_API CUresult cuMemcpyDtoA_v2(CUarray dst, size_t at, CUdeviceptr src, size_t n) {
  return copy_run({dst, at}, {nullptr, src}, n, CopyKind::DeviceToDevice, nullptr, kSync);
}
US_PTDS(cuMemcpyDtoA_v2, (CUarray dst, size_t at, CUdeviceptr src, size_t n), (dst, at, src, n))
US_API CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t at, size_t n) {
  return copy_run({nullptr, dst}, {src, at}, n, CopyKind::DeviceToDevice, nullptr, kSync);
}
US_PTDS(cuMemcpyAtoD_v2, (CUdeviceptr dst, CUarray src, size_t at, size_t n), (dst, src, at, n))
US_API CUresult cuMemcpyHtoA_v2(CUarray dst, size_t at, const void* src, size_t n) {
  return copy_run({dst, at}, {nullptr, host(src)}, n, CopyKind::HostToDevice, nullptr, kSync);
}
US_PTDS(cuMemcpyHtoA_v2, (CUarray dst, size_t at, const void* src, size_t n), (dst, at, src, n))
US_API CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t at, const void* src, size_t n, CUstream s) {
  return copy_run({dst, at}, {nullptr, host(src)}, n, CopyKind::HostToDevice, s, kAsync);
}
US_PTSZ(cuMemcpyHtoAAsync_v2, (CUarray dst, size_t at, const void* src, size_t n, CUstream s), (dst, at, src, n, s))
US_API CUresult cuMemcpyAtoH_v2(void* dst, CUarray src, size_t at, size_t n) {
  return copy_run({nullptr, host(dst)}, {src, at}, n, CopyKind::DeviceToHost, nullptr, kSync);
}
US_PTDS(cuMemcpyAtoH_v2, (void* dst, CUarray src, size_t at, size_t n), (dst, src, at, n))
US_API CUresult cuMemcpyAtoHAsync_v2(void* dst, CUarray src, size_t at, size_t n, CUstream s) {
  return copy_run({nullptr, host(dst)}, {src, at}, n, CopyKind::DeviceToHost, s, kAsync);
}
US_PTSZ(cuMemcpyAtoHAsync_v2, (void* dst, CUarray src, size_t at, size_t n, CUstream s), (dst, src, at, n, s))
US_API CUresult cuMemcpyAtoA_v2(CUarray dst, size_t to, CUarray src, size_t at, size_t n) {
  return copy_run({dst, to}, {src, at}, n, CopyKind::DeviceToDevice, nullptr, kSync);
}
US_PTDS(cuMemcpyAtoA_v2, (CUarray dst, size_t to, CUarray src, size_t at, size_t n), (dst, to, src, at, n))
