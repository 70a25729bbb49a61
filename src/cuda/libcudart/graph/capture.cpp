// SPDX-License-Identifier: Apache-2.0
// Stream capture.
#include "cuda/graph/graphs.h"
#include "cuda/libcudart/runtime_api.h"

using namespace us::cuda;
using us::driver::EdgeData;

namespace {

const EdgeData* edges_of(const cudaGraphEdgeData* e) { return reinterpret_cast<const EdgeData*>(e); }

template <class F>
cudaError_t locked(cudaStream_t stream, F&& f) {
  return in_stream(stream, [&](Context&, Stream& s) {
    GraphLock lock;
    return f(s);
  });
}

}  // namespace

US_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return locked(stream,
                [&](Stream& s) { return begin_capture(s, static_cast<int>(mode), nullptr, nullptr, nullptr, 0); });
}
US_PTSZ(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode), (stream, mode))

US_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t g, const cudaGraphNode_t* after,
                                                 const cudaGraphEdgeData* edges, size_t count,
                                                 cudaStreamCaptureMode mode) {
  if (!g) return done(Error::InvalidValue);
  return locked(stream,
                [&](Stream& s) { return begin_capture(s, static_cast<int>(mode), g, after, edges_of(edges), count); });
}
US_PTSZ(cudaStreamBeginCaptureToGraph,
        (cudaStream_t stream, cudaGraph_t g, const cudaGraphNode_t* after, const cudaGraphEdgeData* edges, size_t count,
         cudaStreamCaptureMode mode),
        (stream, g, after, edges, count, mode))

US_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* out) {
  return locked(stream, [&](Stream& s) { return end_capture(s, out); });
}
US_PTSZ(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* out), (stream, out))

US_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* out) {
  if (!out) return done(Error::InvalidValue);
  return locked(stream, [&](Stream& s) {
    int status = 0;
    US_TRY(capture_status(s, status));
    *out = static_cast<cudaStreamCaptureStatus>(status);
    return Error::Success;
  });
}
US_PTSZ(cudaStreamIsCapturing, (cudaStream_t stream, cudaStreamCaptureStatus* out), (stream, out))

US_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* out, unsigned long long* id,
                                            cudaGraph_t* g, const cudaGraphNode_t** after,
                                            const cudaGraphEdgeData** edges, size_t* count) {
  if (!out) return done(Error::InvalidValue);
  return locked(stream, [&](Stream& s) {
    int status = 0;
    US_TRY(capture_info(s, status, id, g, after, reinterpret_cast<const EdgeData**>(edges), count));
    *out = static_cast<cudaStreamCaptureStatus>(status);
    return Error::Success;
  });
}
US_PTSZ(cudaStreamGetCaptureInfo,
        (cudaStream_t stream, cudaStreamCaptureStatus* out, unsigned long long* id, cudaGraph_t* g,
         const cudaGraphNode_t** after, const cudaGraphEdgeData** edges, size_t* count),
        (stream, out, id, g, after, edges, count))

US_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* list,
                                                       const cudaGraphEdgeData* edges, size_t count, unsigned flags) {
  return locked(stream, [&](Stream& s) { return update_dependencies(s, list, edges_of(edges), count, flags); });
}
US_PTSZ(cudaStreamUpdateCaptureDependencies,
        (cudaStream_t stream, cudaGraphNode_t* list, const cudaGraphEdgeData* edges, size_t count, unsigned flags),
        (stream, list, edges, count, flags))

US_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (!mode) return done(Error::InvalidValue);
  int number = static_cast<int>(*mode);
  const Error e = exchange_mode(number);
  *mode = static_cast<cudaStreamCaptureMode>(number);
  return done(e);
}
