// SPDX-License-Identifier: Apache-2.0
// Stream Management, Event Management.
#include <algorithm>

#include "cuda/libcuda/driver_api.h"
#include "cuda/stream/events.h"

using namespace us::cuda;
using us::driver::Event;

namespace {

CUresult create(CUstream* out, unsigned flags, int priority) {
  if (!out || (flags & ~1u)) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    US_TRY(c.sticky());
    const auto& d = c.device().spec();
    const int clamped = std::clamp(priority, d.stream_priority_greatest, d.stream_priority_least);
    *out = handle_to<CUstream>(&us::cuda::create_stream(c, flags & CU_STREAM_NON_BLOCKING, clamped));
    return Error::Success;
  });
}

// f(Event&) → Error
template <class F>
CUresult with_event(CUevent handle, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  std::shared_ptr<Event> e;
  if (const Error error = find_event(handle, e); us::driver::failed(error)) return result(error);
  return result(f(*e));
}

template <class T, class F>
CUresult ask(CUstream stream, T* out, F&& value) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream& s) {
    *out = value(c, s);
    return Error::Success;
  });
}

}  // namespace

US_API CUresult cuStreamCreate(CUstream* out, unsigned flags) { return create(out, flags, 0); }
US_API CUresult cuStreamCreateWithPriority(CUstream* out, unsigned flags, int priority) {
  return create(out, flags, priority);
}

US_API CUresult cuStreamDestroy(CUstream stream);
US_API CUresult cuStreamDestroy(CUstream stream) {
  if (reinterpret_cast<us::u64>(stream) <= 2) return CUDA_ERROR_INVALID_HANDLE;
  return in_stream(stream, [&](Context& c, Stream&) { return c.destroy_stream(stream); });
}

US_API CUresult cuStreamSynchronize(CUstream stream) {
  return in_stream(stream, [](Context& c, Stream& s) { return c.synchronize(s); });
}
US_PTSZ(cuStreamSynchronize, (CUstream stream), (stream))

US_API CUresult cuStreamQuery(CUstream stream) {
  return in_stream(stream, [](Context& c, Stream& s) { return c.query(s); });
}
US_PTSZ(cuStreamQuery, (CUstream stream), (stream))

US_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  if (flags & ~1u) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream,
                   [&](Context& c, Stream& s) { return wait_event(c, s, event, flags & CU_EVENT_WAIT_EXTERNAL); });
}
US_PTSZ(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags), (stream, event, flags))

US_API CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback f, void* data, unsigned flags) {
  if (!f || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream& s) {
    return c.submit(CallbackOp{[=, &c] { f(stream, result(c.sticky()), data); }}, s);
  });
}
US_PTSZ(cuStreamAddCallback, (CUstream stream, CUstreamCallback f, void* data, unsigned flags),
        (stream, f, data, flags))

US_API CUresult cuStreamGetPriority(CUstream stream, int* out) {
  return ask(stream, out, [](Context&, Stream& s) { return s.priority(); });
}
US_PTSZ(cuStreamGetPriority, (CUstream stream, int* out), (stream, out))
US_API CUresult cuStreamGetFlags(CUstream stream, unsigned* out) {
  return ask(stream, out, [](Context&, Stream& s) { return s.non_blocking() ? 1u : 0u; });
}
US_PTSZ(cuStreamGetFlags, (CUstream stream, unsigned* out), (stream, out))
US_API CUresult cuStreamGetId(CUstream stream, unsigned long long* out) {
  return ask(stream, out, [](Context&, Stream& s) { return s.id(); });
}
US_PTSZ(cuStreamGetId, (CUstream stream, unsigned long long* out), (stream, out))
US_API CUresult cuStreamGetDevice(CUstream stream, CUdevice* out) {
  return ask(stream, out, [](Context& c, Stream&) { return static_cast<int>(c.device().ordinal()); });
}
US_PTSZ(cuStreamGetDevice, (CUstream stream, CUdevice* out), (stream, out))
US_API CUresult cuStreamGetCtx(CUstream stream, CUcontext* out) {
  return ask(stream, out, [](Context& c, Stream& s) {
    return handle_to<CUcontext>(s.green() ? static_cast<const void*>(s.green()) : &c);
  });
}
US_PTSZ(cuStreamGetCtx, (CUstream stream, CUcontext* out), (stream, out))
US_API CUresult cuEventCreate(CUevent* out, unsigned flags) {
  if (!out || !event_flags_fit(flags)) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    Event* e = nullptr;
    US_TRY(create_event(c, flags, e));
    *out = handle_to<CUevent>(e);
    return Error::Success;
  });
}

US_API CUresult cuEventDestroy(CUevent event);
US_API CUresult cuEventDestroy(CUevent event) {
  return with_event(event, [&](Event& e) { return e.context().destroy_event(event); });
}

US_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  if (flags & ~1u) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream,
                   [&](Context& c, Stream& s) { return record_event(c, s, event, flags & CU_EVENT_RECORD_EXTERNAL); });
}
US_PTSZ(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags), (event, stream, flags))
US_API CUresult cuEventRecord(CUevent event, CUstream stream) { return cuEventRecordWithFlags(event, stream, 0); }
US_PTSZ(cuEventRecord, (CUevent event, CUstream stream), (event, stream))

US_API CUresult cuEventQuery(CUevent event) { return with_event(event, query_event); }

US_API CUresult cuEventSynchronize(CUevent event) { return with_event(event, synchronize_event); }

US_API CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end);
US_API CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent end) {
  if (!ms) return CUDA_ERROR_INVALID_VALUE;
  return with_event(start, [&](Event& e) { return elapsed_between(e, end, *ms); });
}
