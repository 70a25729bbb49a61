// SPDX-License-Identifier: Apache-2.0
// Memory Management: prefetching, advice and what is known of ranges of managed memory.
#include "cuda/memory/managed.h"
#include "cuda/libcudart/runtime_api.h"
#include "driver/memory/advice.h"

using namespace us::cuda;
using us::driver::Location;

namespace {

Location location_of(const cudaMemLocation& l) { return {l.type, l.id}; }

// Batches: range i goes where the last entry of `firsts` that is not above i says.
cudaError_t each_in_batch(const void* const* ranges, const size_t* sizes, size_t count, const cudaMemLocation* places,
                          const size_t* firsts, size_t place_count, unsigned long long flags, cudaStream_t stream) {
  if (!ranges || !sizes || count == 0 || flags) return done(Error::InvalidValue);
  if (!places || !firsts || place_count == 0 || place_count > count || firsts[0] != 0) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context& c, Stream& s) {
    size_t which = 0;
    for (size_t i = 0; i < count; ++i) {
      while (which + 1 < place_count && firsts[which + 1] <= i) ++which;
      US_TRY(prefetch(c, s, address(ranges[i]), sizes[i], location_of(places[which])));
    }
    return Error::Success;
  });
}

}  // namespace

US_API cudaError_t cudaMemPrefetchAsync(const void* p, size_t bytes, cudaMemLocation location, unsigned flags,
                                        cudaStream_t stream) {
  if (flags != 0) return done(Error::InvalidValue);
  return in_stream(stream,
                   [&](Context& c, Stream& s) { return prefetch(c, s, address(p), bytes, location_of(location)); });
}
US_PTSZ(cudaMemPrefetchAsync, (const void* p, size_t bytes, cudaMemLocation l, unsigned flags, cudaStream_t s),
        (p, bytes, l, flags, s))

US_API cudaError_t cudaMemPrefetchBatchAsync(void** ranges, size_t* sizes, size_t count, cudaMemLocation* places,
                                             size_t* firsts, size_t place_count, unsigned long long flags,
                                             cudaStream_t stream) {
  return each_in_batch(ranges, sizes, count, places, firsts, place_count, flags, stream);
}
US_PTSZ(cudaMemPrefetchBatchAsync,
        (void** ranges, size_t* sizes, size_t count, cudaMemLocation* places, size_t* firsts, size_t place_count,
         unsigned long long flags, cudaStream_t s),
        (ranges, sizes, count, places, firsts, place_count, flags, s))

// Discarded contents may stay as they are.
US_API cudaError_t cudaMemDiscardBatchAsync(void** ranges, size_t* sizes, size_t count, unsigned long long flags,
                                            cudaStream_t stream) {
  if (!ranges || !sizes || count == 0 || flags) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context& c, Stream&) {
    for (size_t i = 0; i < count; ++i) US_TRY(check_managed(c, address(ranges[i]), sizes[i]));
    return Error::Success;
  });
}
US_PTSZ(cudaMemDiscardBatchAsync,
        (void** ranges, size_t* sizes, size_t count, unsigned long long flags, cudaStream_t s),
        (ranges, sizes, count, flags, s))

US_API cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** ranges, size_t* sizes, size_t count,
                                                       cudaMemLocation* places, size_t* firsts, size_t place_count,
                                                       unsigned long long flags, cudaStream_t stream) {
  return each_in_batch(ranges, sizes, count, places, firsts, place_count, flags, stream);
}
US_PTSZ(cudaMemDiscardAndPrefetchBatchAsync,
        (void** ranges, size_t* sizes, size_t count, cudaMemLocation* places, size_t* firsts, size_t place_count,
         unsigned long long flags, cudaStream_t s),
        (ranges, sizes, count, places, firsts, place_count, flags, s))

US_API cudaError_t cudaMemAdvise(const void* p, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
  return in_context([&](Context& c) { return advise(c, address(p), bytes, advice, location_of(location)); });
}

US_API cudaError_t cudaMemRangeGetAttribute(void* data, size_t size, cudaMemRangeAttribute attribute, const void* p,
                                            size_t bytes) {
  return in_context([&](Context& c) { return range_attribute(c, attribute, data, size, address(p), bytes); });
}

US_API cudaError_t cudaMemRangeGetAttributes(void** data, size_t* sizes, cudaMemRangeAttribute* attributes,
                                             size_t count, const void* p, size_t bytes) {
  if (!data || !sizes || !attributes || count == 0) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    for (size_t i = 0; i < count; ++i) US_TRY(range_attribute(c, attributes[i], data[i], sizes[i], address(p), bytes));
    return Error::Success;
  });
}

US_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* p, size_t bytes, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
    return done(Error::InvalidValue);
  return in_stream(stream, [&](Context& c, Stream& s) {
    US_TRY(c.not_captured(s));
    return check_managed(c, address(p), bytes);
  });
}
US_PTSZ(cudaStreamAttachMemAsync, (cudaStream_t stream, void* p, size_t n, unsigned flags), (stream, p, n, flags))
