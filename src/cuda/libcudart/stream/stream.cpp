// SPDX-License-Identifier: Apache-2.0
// Stream Management.
#include <algorithm>

#include "cuda/libcudart/runtime_api.h"
#include "cuda/stream/events.h"

using namespace us::cuda;

namespace {

cudaError_t create(cudaStream_t* out, unsigned flags, int priority) {
  if (!out || (flags & ~1u)) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    US_TRY(c.sticky());
    const auto& d = c.device().spec();
    const int clamped = std::clamp(priority, d.stream_priority_greatest, d.stream_priority_least);
    *out = reinterpret_cast<cudaStream_t>(&us::cuda::create_stream(c, flags & cudaStreamNonBlocking, clamped));
    return Error::Success;
  });
}

}  // namespace

US_API cudaError_t cudaStreamCreate(cudaStream_t* out) { return create(out, 0, 0); }
US_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) { return create(out, flags, 0); }
US_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
  return create(out, flags, priority);
}

US_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (reinterpret_cast<us::u64>(stream) <= 2) return done(Error::InvalidHandle);
  return in_stream(stream, [&](Context& c, Stream&) { return c.destroy_stream(stream); });
}

US_API cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return in_stream(stream, [](Context& c, Stream& s) { return c.synchronize(s); });
}
US_PTSZ(cudaStreamSynchronize, (cudaStream_t stream), (stream))

US_API cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return in_stream(stream, [](Context& c, Stream& s) { return c.query(s); });
}
US_PTSZ(cudaStreamQuery, (cudaStream_t stream), (stream))

US_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  if (flags & ~1u) return done(Error::InvalidValue);
  return in_stream(stream,
                   [&](Context& c, Stream& s) { return wait_event(c, s, event, flags & cudaEventWaitExternal); });
}
US_PTSZ(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))

US_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* out) {
  if (!out) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context&, Stream& s) {
    *out = s.priority();
    return Error::Success;
  });
}
US_PTSZ(cudaStreamGetPriority, (cudaStream_t stream, int* out), (stream, out))

US_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* out) {
  if (!out) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context&, Stream& s) {
    *out = s.non_blocking() ? cudaStreamNonBlocking : cudaStreamDefault;
    return Error::Success;
  });
}
US_PTSZ(cudaStreamGetFlags, (cudaStream_t stream, unsigned* out), (stream, out))

US_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* out) {
  if (!out) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context&, Stream& s) {
    *out = s.id();
    return Error::Success;
  });
}
US_PTSZ(cudaStreamGetId, (cudaStream_t stream, unsigned long long* out), (stream, out))

US_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* out) {
  if (!out) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context& c, Stream&) {
    *out = static_cast<int>(c.device().ordinal());
    return Error::Success;
  });
}
US_PTSZ(cudaStreamGetDevice, (cudaStream_t stream, int* out), (stream, out))

US_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([&](Context& c) {
    if (least) *least = c.device().spec().stream_priority_least;
    if (greatest) *greatest = c.device().spec().stream_priority_greatest;
    return Error::Success;
  });
}
