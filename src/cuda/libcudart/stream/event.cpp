// SPDX-License-Identifier: Apache-2.0
// Event Management.
#include "cuda/libcudart/runtime_api.h"
#include "cuda/stream/events.h"

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

}  // namespace

US_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  if (!out || !event_flags_fit(flags)) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    US_TRY(c.sticky());
    Event* e = nullptr;
    US_TRY(create_event(c, flags, e));
    *out = reinterpret_cast<cudaEvent_t>(e);
    return Error::Success;
  });
}
US_API cudaError_t cudaEventCreate(cudaEvent_t* out) { return cudaEventCreateWithFlags(out, cudaEventDefault); }

US_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_event(event, [&](Event& e) { return e.context().destroy_event(event); });
}

US_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags & ~1u) return done(Error::InvalidValue);
  return in_stream(stream,
                   [&](Context& c, Stream& s) { return record_event(c, s, event, flags & cudaEventRecordExternal); });
}
US_PTSZ(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned flags), (event, stream, flags))

US_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
US_PTSZ(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))

US_API cudaError_t cudaEventQuery(cudaEvent_t event) { return with_event(event, query_event); }

US_API cudaError_t cudaEventSynchronize(cudaEvent_t event) { return with_event(event, synchronize_event); }

US_API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  if (!ms) return done(Error::InvalidValue);
  return with_event(start, [&](Event& e) { return elapsed_between(e, end, *ms); });
}
