// SPDX-License-Identifier: Apache-2.0
// Stream capture.
#include "cuda/graph/graphs.h"
#include "cuda/libcuda/driver_api.h"

using namespace us::cuda;
using us::driver::EdgeData;

namespace {

const EdgeData* edges_of(const CUgraphEdgeData* e) { return reinterpret_cast<const EdgeData*>(e); }

template <class F>
CUresult locked(CUstream stream, F&& f) {
  return in_stream(stream, [&](Context&, Stream& s) {
    GraphLock lock;
    return f(s);
  });
}

}  // namespace

US_API CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return locked(stream,
                [&](Stream& s) { return begin_capture(s, static_cast<int>(mode), nullptr, nullptr, nullptr, 0); });
}
US_PTSZ(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
#undef cuStreamBeginCapture
US_API CUresult cuStreamBeginCapture(CUstream stream);
US_API CUresult cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
US_PTSZ(cuStreamBeginCapture, (CUstream stream), (stream))

US_API CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph g, const CUgraphNode* after,
                                            const CUgraphEdgeData* edges, size_t count, CUstreamCaptureMode mode) {
  if (!g) return CUDA_ERROR_INVALID_VALUE;
  return locked(stream,
                [&](Stream& s) { return begin_capture(s, static_cast<int>(mode), g, after, edges_of(edges), count); });
}
US_PTSZ(cuStreamBeginCaptureToGraph,
        (CUstream stream, CUgraph g, const CUgraphNode* after, const CUgraphEdgeData* edges, size_t count,
         CUstreamCaptureMode mode),
        (stream, g, after, edges, count, mode))

US_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* out) {
  return locked(stream, [&](Stream& s) { return end_capture(s, out); });
}
US_PTSZ(cuStreamEndCapture, (CUstream stream, CUgraph* out), (stream, out))

US_API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return locked(stream, [&](Stream& s) {
    int status = 0;
    US_TRY(capture_status(s, status));
    *out = static_cast<CUstreamCaptureStatus>(status);
    return Error::Success;
  });
}
US_PTSZ(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus* out), (stream, out))

namespace {
CUresult info(CUstream stream, CUstreamCaptureStatus* out, cuuint64_t* id, CUgraph* g, const CUgraphNode** after,
              const EdgeData** edges, size_t* count) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return locked(stream, [&](Stream& s) {
    int status = 0;
    unsigned long long number = 0;
    US_TRY(capture_info(s, status, &number, g, after, edges, count));
    *out = static_cast<CUstreamCaptureStatus>(status);
    if (id && status == CU_STREAM_CAPTURE_STATUS_ACTIVE) *id = number;
    return Error::Success;
  });
}
}  // namespace

#undef cuStreamGetCaptureInfo
#undef cuStreamUpdateCaptureDependencies
US_API CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* g,
                                          const CUgraphNode** after, const CUgraphEdgeData** edges, size_t* count) {
  return info(stream, status, id, g, after, reinterpret_cast<const EdgeData**>(edges), count);
}
US_PTSZ(cuStreamGetCaptureInfo_v3,
        (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* g, const CUgraphNode** after,
         const CUgraphEdgeData** edges, size_t* count),
        (stream, status, id, g, after, edges, count))
US_API CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* g,
                                          const CUgraphNode** after, size_t* count);
US_API CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* g,
                                          const CUgraphNode** after, size_t* count) {
  return info(stream, status, id, g, after, nullptr, count);
}
US_PTSZ(cuStreamGetCaptureInfo_v2,
        (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* g, const CUgraphNode** after,
         size_t* count),
        (stream, status, id, g, after, count))
US_API CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id);
US_API CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
US_PTSZ(cuStreamGetCaptureInfo, (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id), (stream, status, id))

US_API CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* list, const CUgraphEdgeData* edges,
                                                     size_t count, unsigned flags) {
  return locked(stream, [&](Stream& s) { return update_dependencies(s, list, edges_of(edges), count, flags); });
}
US_PTSZ(cuStreamUpdateCaptureDependencies_v2,
        (CUstream stream, CUgraphNode* list, const CUgraphEdgeData* edges, size_t count, unsigned flags),
        (stream, list, edges, count, flags))
US_API CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* list, size_t count, unsigned flags);
US_API CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* list, size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, list, nullptr, count, flags);
}
US_PTSZ(cuStreamUpdateCaptureDependencies, (CUstream stream, CUgraphNode* list, size_t count, unsigned flags),
        (stream, list, count, flags))

US_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (!mode) return CUDA_ERROR_INVALID_VALUE;
  int number = static_cast<int>(*mode);
  const Error e = exchange_mode(number);
  *mode = static_cast<CUstreamCaptureMode>(number);
  return result(e);
}
