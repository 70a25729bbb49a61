// SPDX-License-Identifier: Apache-2.0
// Unified Addressing: prefetching, advice and what is known of ranges of managed memory.
#include "cuda/memory/managed.h"
#include "cuda/libcuda/driver_api.h"
#include "driver/memory/advice.h"

#undef cuMemPrefetchAsync
#undef cuMemAdvise

using namespace us::cuda;
using us::driver::Location;

namespace {

Location location_of(const CUmemLocation& l) { return {l.type, l.id}; }
Location location_of(CUdevice d) { return {CU_MEM_LOCATION_TYPE_DEVICE, d}; }

CUresult each_in_batch(const CUdeviceptr* ranges, const size_t* sizes, size_t count, const CUmemLocation* places,
                       const size_t* firsts, size_t place_count, unsigned long long flags, CUstream stream) {
  if (!ranges || !sizes || count == 0 || flags) return CUDA_ERROR_INVALID_VALUE;
  if (!places || !firsts || place_count == 0 || place_count > count || firsts[0] != 0) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream& s) {
    size_t which = 0;
    for (size_t i = 0; i < count; ++i) {
      while (which + 1 < place_count && firsts[which + 1] <= i) ++which;
      US_TRY(prefetch(c, s, ranges[i], sizes[i], location_of(places[which])));
    }
    return Error::Success;
  });
}

}  // namespace

US_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr p, size_t bytes, CUmemLocation location, unsigned flags,
                                      CUstream stream) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream& s) { return prefetch(c, s, p, bytes, location_of(location)); });
}
US_PTSZ(cuMemPrefetchAsync_v2, (CUdeviceptr p, size_t bytes, CUmemLocation l, unsigned flags, CUstream s),
        (p, bytes, l, flags, s))
US_API CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUdevice d, CUstream stream);
US_API CUresult cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUdevice d, CUstream stream) {
  return in_stream(stream, [&](Context& c, Stream& s) { return prefetch(c, s, p, bytes, location_of(d)); });
}
US_PTSZ(cuMemPrefetchAsync, (CUdeviceptr p, size_t bytes, CUdevice d, CUstream s), (p, bytes, d, s))

US_API CUresult cuMemAdvise_v2(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUmemLocation location) {
  return in_current([&](Context& c) { return advise(c, p, bytes, advice, location_of(location)); });
}
US_API CUresult cuMemAdvise(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice d);
US_API CUresult cuMemAdvise(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice d) {
  return in_current([&](Context& c) { return advise(c, p, bytes, advice, location_of(d)); });
}

US_API CUresult cuMemPrefetchBatchAsync(CUdeviceptr* ranges, size_t* sizes, size_t count, CUmemLocation* places,
                                        size_t* firsts, size_t place_count, unsigned long long flags, CUstream s) {
  return each_in_batch(ranges, sizes, count, places, firsts, place_count, flags, s);
}
US_PTSZ(cuMemPrefetchBatchAsync,
        (CUdeviceptr * ranges, size_t* sizes, size_t count, CUmemLocation* places, size_t* firsts, size_t place_count,
         unsigned long long flags, CUstream s),
        (ranges, sizes, count, places, firsts, place_count, flags, s))

// Discarded contents may stay as they are.
US_API CUresult cuMemDiscardBatchAsync(CUdeviceptr* ranges, size_t* sizes, size_t count, unsigned long long flags,
                                       CUstream stream) {
  if (!ranges || !sizes || count == 0 || flags) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream&) {
    for (size_t i = 0; i < count; ++i) US_TRY(check_managed(c, ranges[i], sizes[i]));
    return Error::Success;
  });
}
US_PTSZ(cuMemDiscardBatchAsync,
        (CUdeviceptr * ranges, size_t* sizes, size_t count, unsigned long long flags, CUstream s),
        (ranges, sizes, count, flags, s))

US_API CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* ranges, size_t* sizes, size_t count,
                                                  CUmemLocation* places, size_t* firsts, size_t place_count,
                                                  unsigned long long flags, CUstream s) {
  return each_in_batch(ranges, sizes, count, places, firsts, place_count, flags, s);
}
US_PTSZ(cuMemDiscardAndPrefetchBatchAsync,
        (CUdeviceptr * ranges, size_t* sizes, size_t count, CUmemLocation* places, size_t* firsts, size_t place_count,
         unsigned long long flags, CUstream s),
        (ranges, sizes, count, places, firsts, place_count, flags, s))

US_API CUresult cuMemRangeGetAttribute(void* data, size_t size, CUmem_range_attribute attribute, CUdeviceptr p,
                                       size_t bytes) {
  return in_current([&](Context& c) { return range_attribute(c, attribute, data, size, p, bytes); });
}
US_API CUresult cuMemRangeGetAttributes(void** data, size_t* sizes, CUmem_range_attribute* attributes, size_t count,
                                        CUdeviceptr p, size_t bytes) {
  if (!data || !sizes || !attributes || count == 0) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    for (size_t i = 0; i < count; ++i) US_TRY(range_attribute(c, attributes[i], data[i], sizes[i], p, bytes));
    return Error::Success;
  });
}

US_API CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr p, size_t bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
    return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream& s) {
    US_TRY(c.not_captured(s));
    return check_managed(c, p, bytes);
  });
}
US_PTSZ(cuStreamAttachMemAsync, (CUstream stream, CUdeviceptr p, size_t bytes, unsigned flags),
        (stream, p, bytes, flags))
