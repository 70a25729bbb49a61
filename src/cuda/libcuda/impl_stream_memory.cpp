// SPDX-License-Identifier: Apache-2.0
// Stream Memory Operations: a stream that waits for a word in memory or writes one. What streams remember for launches.
#include <atomic>
#include <functional>

#include "cuda/libcuda/du.h"

using namespace us::cuda;

namespace {

constexpr unsigned kFlush = CU_STREAM_WAIT_VALUE_FLUSH;

template <class T>
T load(us::u64 at) {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(at)).load(std::memory_order_acquire);
}

template <class T>
bool holds(T now, T value, unsigned how) {
  using Signed = std::make_signed_t<T>;
  switch (how) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<Signed>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & value) != 0;
    default:
      return static_cast<T>(~(now | value)) != 0;
  }
}

template <class T>
Error check_word(us::u64 at) {
  const auto a = runtime().registry().find(at);
  const bool fits = a && at + sizeof(T) <= a->address + a->bytes;
  return fits && at % sizeof(T) == 0 ? Error::Success : Error::InvalidValue;
}

template <class T>
Error wait(Context& c, Stream& s, us::u64 at, T value, unsigned flags) {
  const unsigned how = flags & ~kFlush;
  if (how > CU_STREAM_WAIT_VALUE_NOR) return Error::InvalidValue;
  US_TRY(check_word<T>(at));
  return c.wait_until(s, [=] { return holds(load<T>(at), value, how); });
}

template <class T>
Error write(Context& c, Stream& s, us::u64 at, T value, unsigned flags) {
  if (flags & ~static_cast<unsigned>(CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)) return Error::InvalidValue;
  US_TRY(check_word<T>(at));
  return c.small_work(s,
                      [=] { std::atomic_ref<T>(*reinterpret_cast<T*>(at)).store(value, std::memory_order_release); });
}

Error one(Context& c, Stream& s, const CUstreamBatchMemOpParams& p) {
  switch (p.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait<us::u32>(c, s, p.waitValue.address, p.waitValue.value, p.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait<us::u64>(c, s, p.waitValue.address, p.waitValue.value64, p.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write<us::u32>(c, s, p.writeValue.address, p.writeValue.value, p.writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write<us::u64>(c, s, p.writeValue.address, p.writeValue.value64, p.writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:  // every operation is ordered already
      return p.memoryBarrier.flags <= 1 ? Error::Success : Error::InvalidValue;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return Error::NotSupported;
    default:
      return Error::InvalidValue;
  }
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
  return in_stream(stream, [&](Context& c, Stream& s) {
    for (unsigned i = 0; i < count; ++i) US_TRY(one(c, s, list[i]));
    return Error::Success;
  });
}
US_PTSZ(cuStreamBatchMemOp_v2, (CUstream stream, unsigned count, CUstreamBatchMemOpParams* list, unsigned flags),
        (stream, count, list, flags))

US_API CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID id, const CUstreamAttrValue* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream,
                   [&](Context&, Stream& s) { return s.set_attribute(static_cast<int>(id), value, sizeof *value); });
}
US_PTSZ(cuStreamSetAttribute, (CUstream stream, CUstreamAttrID id, const CUstreamAttrValue* value), (stream, id, value))
US_API CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID id, CUstreamAttrValue* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream,
                   [&](Context&, Stream& s) { return s.get_attribute(static_cast<int>(id), value, sizeof *value); });
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
  return in_stream(stream, [&](Context& c, Stream&) {
    *out = handle_to<CUcontext>(&c);
    if (green) *green = nullptr;
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
    for (size_t i = 0; i < count; ++i)
      US_TRY(c.copy({.dst = dst[i], .src = src[i], .width = sizes[i]}, us::driver::CopyKind::Default, s, true));
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
