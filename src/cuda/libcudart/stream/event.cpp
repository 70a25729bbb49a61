// SPDX-License-Identifier: Apache-2.0
// Event Management.
#include "cuda/libcudart/runtime_api.h"
#include "driver/order/shared_event.h"

using namespace us::cuda;
using us::driver::Event;

namespace {

// f(Event&) → Error
template <class F>
cudaError_t with_event(cudaEvent_t handle, F&& f) {
  std::shared_ptr<Event> e;
  if (const Error error = find_event(handle, e); us::driver::failed(error)) return done(error);
  return done(f(*e));
}

Error or_sticky(const Event& e, Error result) {
  return us::driver::failed(e.context().sticky()) ? e.context().sticky() : result;
}

}  // namespace

US_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  const bool interprocess = flags & cudaEventInterprocess, timing = !(flags & cudaEventDisableTiming);
  if (!out || (flags & ~7u) || (interprocess && timing)) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    US_TRY(c.sticky());
    auto shared = interprocess ? us::driver::SharedEvent::make() : nullptr;
    if (interprocess && !shared) return Error::OutOfMemory;
    *out = reinterpret_cast<cudaEvent_t>(&c.create_event(timing, flags & cudaEventBlockingSync, std::move(shared)));
    return Error::Success;
  });
}
US_API cudaError_t cudaEventCreate(cudaEvent_t* out) { return cudaEventCreateWithFlags(out, cudaEventDefault); }

US_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_event(event, [&](Event& e) { return e.context().destroy_event(event); });
}

US_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags & ~1u) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context& c, Stream& s) {
    std::shared_ptr<Event> e;
    US_TRY(find_event(event, e));
    return c.record(*e, s, flags & cudaEventRecordExternal);
  });
}
US_PTSZ(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags), (event, stream, flags))

US_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
US_PTSZ(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))

US_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_event(event, [](Event& e) {
    US_TRY(runtime().captures().synchronize_event(e));
    return or_sticky(e, e.query());
  });
}

US_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_event(event, [](Event& e) {
    US_TRY(runtime().captures().synchronize_event(e));
    const Error result = e.synchronize();
    return or_sticky(e, result);
  });
}

US_API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  if (!ms) return done(Error::InvalidValue);
  return with_event(start, [&](Event& a) {
    std::shared_ptr<Event> b;
    US_TRY(find_event(end, b));
    US_TRY(runtime().captures().elapsed(a));
    US_TRY(runtime().captures().elapsed(*b));
    return or_sticky(a, Event::elapsed_ms(a, *b, *ms));
  });
}
