// SPDX-License-Identifier: Apache-2.0
// Stream Memory Operations: a stream that waits for a word in memory or writes one. What streams remember for launches.
#include "cuda/graph/graphs.h"
#include "cuda/libcuda/driver_api.h"

using namespace us::cuda;

namespace {

Error run(Context& c, Stream& s, const CUstreamBatchMemOpParams* list, unsigned count) {
  MemOps p;
  US_TRY(check_mem_ops(c, count, list, p));
  return c.submit(std::move(p), s);
}

template <class T>
Error wait(Context& c, Stream& s, us::u64 at, T value, unsigned flags) {
  CUstreamBatchMemOpParams p{};
  constexpr bool kWide = sizeof(T) == 8;
  p.operation = kWide ? CU_STREAM_MEM_OP_WAIT_VALUE_64 : CU_STREAM_MEM_OP_WAIT_VALUE_32;
  p.waitValue.address = at;
  p.waitValue.value64 = value;
  p.waitValue.flags = flags;
  return run(c, s, &p, 1);
}

template <class T>
Error write(Context& c, Stream& s, us::u64 at, T value, unsigned flags) {
  CUstreamBatchMemOpParams p{};
  constexpr bool kWide = sizeof(T) == 8;
  p.operation = kWide ? CU_STREAM_MEM_OP_WRITE_VALUE_64 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
  p.writeValue.address = at;
  p.writeValue.value64 = value;
  p.writeValue.flags = flags;
  return run(c, s, &p, 1);
}

}  // namespace

US_API CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags) {
  return in_stream(stream, [&](Context& c, Stream& s) { return wait<us::u32>(c, s, at, value, flags); });
}
US_PTSZ(cuStreamWaitValue32_v2, (CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags),
        (stream, at, value, flags))
US_API CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned flags) {
  return in_stream(stream, [&](Context& c, Stream& s) { return wait<us::u64>(c, s, at, value, flags); });
}
US_PTSZ(cuStreamWaitValue64_v2, (CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned flags),
        (stream, at, value, flags))
US_API CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags) {
  return in_stream(stream, [&](Context& c, Stream& s) { return write<us::u32>(c, s, at, value, flags); });
}
US_PTSZ(cuStreamWriteValue32_v2, (CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags),
        (stream, at, value, flags))
US_API CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned flags) {
  return in_stream(stream, [&](Context& c, Stream& s) { return write<us::u64>(c, s, at, value, flags); });
}
US_PTSZ(cuStreamWriteValue64_v2, (CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned flags),
        (stream, at, value, flags))

US_API CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams* list, unsigned flags) {
  if ((!list && count) || count > 256 || flags) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream& s) { return run(c, s, list, count); });
}
US_PTSZ(cuStreamBatchMemOp_v2, (CUstream stream, unsigned count, CUstreamBatchMemOpParams* list, unsigned flags),
        (stream, count, list, flags))

US_API CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID id, const CUstreamAttrValue* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream,
                   [&](Context&, Stream& s) { return us::cuda::set_attribute(s, static_cast<int>(id), value); });
}
US_PTSZ(cuStreamSetAttribute, (CUstream stream, CUstreamAttrID id, const CUstreamAttrValue* value), (stream, id, value))
US_API CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID id, CUstreamAttrValue* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream,
                   [&](Context&, Stream& s) { return us::cuda::get_attribute(s, static_cast<int>(id), value); });
}
US_PTSZ(cuStreamGetAttribute, (CUstream stream, CUstreamAttrID id, CUstreamAttrValue* value), (stream, id, value))
US_API CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return in_stream(from, [&](Context& c, Stream& source) {
    StreamRef target;
    US_TRY(find_stream(c, to, target));
    target.stream->copy_attributes(source);
    return Error::Success;
  });
}
US_PTSZ(cuStreamCopyAttributes, (CUstream to, CUstream from), (to, from))

US_API CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* out, CUgreenCtx* green) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream& s) {
    *out = handle_to<CUcontext>(&c);
    if (green) *green = handle_to<CUgreenCtx>(s.green());
    return Error::Success;
  });
}
US_PTSZ(cuStreamGetCtx_v2, (CUstream stream, CUcontext* out, CUgreenCtx* green), (stream, out, green))

US_API CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* dst, CUdeviceptr* src, size_t* sizes, size_t count,
                                      CUmemcpyAttributes* attributes, size_t* firsts, size_t attribute_count,
                                      CUstream stream) {
  if (!dst || !src || !sizes || count == 0 || !attributes || !firsts || attribute_count == 0 ||
      attribute_count > count || firsts[0] != 0 || !stream)
    return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream& s) {
    for (size_t i = 0; i < count; ++i) US_TRY(c.submit(CopyOp{{.dst = dst[i], .src = src[i], .width = sizes[i]}}, s));
    return Error::Success;
  });
}
US_PTSZ(cuMemcpyBatchAsync_v2,
        (CUdeviceptr * dst, CUdeviceptr* src, size_t* sizes, size_t count, CUmemcpyAttributes* attributes,
         size_t* firsts, size_t attribute_count, CUstream stream),
        (dst, src, sizes, count, attributes, firsts, attribute_count, stream))

// There is no cache whose lines persist.
US_API CUresult cuCtxResetPersistingL2Cache() {
  return in_current([](Context& c) { return c.sticky(); });
}

// All shared memory has banks of four bytes.
US_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context&) {
    *out = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return Error::Success;
  });
}
US_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  if (config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) return CUDA_ERROR_INVALID_VALUE;
  return in_current([](Context&) { return Error::Success; });
}
US_API CUresult cuFuncSetSharedMemConfig(CUfunction f, CUsharedconfig config) {
  if (config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) return CUDA_ERROR_INVALID_VALUE;
  return with_function(f, [](Context&, Function&) { return Error::Success; });
}
