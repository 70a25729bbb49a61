// SPDX-License-Identifier: Apache-2.0
// Stream capture, and launches of executable graphs: what both APIs do in a stream.
#include "cuda/graph/calls.h"

using namespace us::cuda;
using namespace us::driver;

namespace {

template <class T>
const EdgeData* edges_of(const T* e) {
  return reinterpret_cast<const EdgeData*>(e);
}

template <class Mode>
Error StreamBeginCapture(Stream& s, Mode mode) {
  GraphLock lock;
  return begin_capture(s, static_cast<int>(mode), nullptr, nullptr, nullptr, 0);
}
template <class Mode>
Error StreamBeginCaptureToGraph(Stream& s, CUgraph g, const CUgraphNode* after, const EdgeData* edges, size_t count,
                                Mode mode) {
  if (!g) return Error::InvalidValue;
  GraphLock lock;
  return begin_capture(s, static_cast<int>(mode), g, after, edges, count);
}
Error StreamEndCapture(Stream& s, CUgraph* out) {
  GraphLock lock;
  return end_capture(s, out);
}
template <class Status>
Error StreamIsCapturing(Stream& s, Status* out) {
  int status = 0;
  if (!out) return Error::InvalidValue;
  GraphLock lock;
  US_TRY(capture_status(s, status));
  *out = static_cast<Status>(status);
  return Error::Success;
}
template <class Status>
Error StreamGetCaptureInfo(Stream& s, Status* out, void* id, CUgraph* g, const CUgraphNode** after,
                           const EdgeData** edges, size_t* count) {
  int status = 0;
  if (!out) return Error::InvalidValue;
  GraphLock lock;
  US_TRY(capture_info(s, status, static_cast<unsigned long long*>(id), g, after, edges, count));
  *out = static_cast<Status>(status);
  return Error::Success;
}
Error StreamUpdateCaptureDependencies(Stream& s, const CUgraphNode* list, const EdgeData* edges, size_t count,
                                      unsigned flags) {
  GraphLock lock;
  return update_dependencies(s, list, edges, count, flags);
}

template <class Mode>
Error ThreadExchangeStreamCaptureMode(Mode* mode) {
  if (!mode) return Error::InvalidValue;
  int number = static_cast<int>(*mode);
  const Error e = exchange_mode(number);
  *mode = static_cast<Mode>(number);
  return e;
}

template <class F>
Error execute(CUgraphExec handle, Stream& s, F&& f) {
  s.context().executor().throttle();
  GraphLock lock;
  std::shared_ptr<GraphExec> exec;
  US_TRY(find_exec(handle, exec));
  US_TRY(s.context().not_captured(s));
  return f(*exec);
}
Error GraphLaunch(Stream& s, CUgraphExec h) {
  return execute(h, s, [&](GraphExec& e) { return e.launch(s); });
}
Error GraphUpload(Stream& s, CUgraphExec h) {
  return execute(h, s, [&](GraphExec& e) { return e.upload(s); });
}

}  // namespace

#define MODE(Mode) (CUstream stream, Mode mode)
#define TO_GRAPH(Edge, Mode) \
  (CUstream stream, CUgraph g, const CUgraphNode* after, const Edge* edges, size_t count, Mode mode)
#define GRAPH_OUT(T) (CUstream stream, T out)
#define STATUS(T) (CUstream stream, T * out)
#define INFO(Status, Id, Edge) \
  (CUstream stream, Status * out, Id * id, CUgraph * g, const CUgraphNode** after, const Edge** edges, size_t* count)
#define UPDATE(Edge) (CUstream stream, CUgraphNode * list, const Edge* edges, size_t count, unsigned flags)
#define EXEC(T) (T h, CUstream stream)

US_BOTH_STREAM(StreamBeginCapture, StreamBeginCapture_v2, MODE, (cudaStreamCaptureMode), (CUstreamCaptureMode),
               (s, mode))
US_BOTH_STREAM(StreamBeginCaptureToGraph, StreamBeginCaptureToGraph, TO_GRAPH,
               (cudaGraphEdgeData, cudaStreamCaptureMode), (CUgraphEdgeData, CUstreamCaptureMode),
               (s, g, after, edges_of(edges), count, mode))
US_BOTH_STREAM(StreamEndCapture, StreamEndCapture, GRAPH_OUT, (cudaGraph_t*), (CUgraph*), (s, out))
US_BOTH_STREAM(StreamIsCapturing, StreamIsCapturing, STATUS, (cudaStreamCaptureStatus), (CUstreamCaptureStatus),
               (s, out))
US_BOTH_STREAM(StreamGetCaptureInfo, StreamGetCaptureInfo_v3, INFO,
               (cudaStreamCaptureStatus, unsigned long long, cudaGraphEdgeData),
               (CUstreamCaptureStatus, cuuint64_t, CUgraphEdgeData),
               (s, out, id, g, after, reinterpret_cast<const EdgeData**>(edges), count))
US_BOTH_STREAM(StreamUpdateCaptureDependencies, StreamUpdateCaptureDependencies_v2, UPDATE, (cudaGraphEdgeData),
               (CUgraphEdgeData), (s, list, edges_of(edges), count, flags))
US_BOTH_STREAM(GraphLaunch, GraphLaunch, EXEC, (cudaGraphExec_t), (CUgraphExec), (s, h))
US_BOTH_STREAM(GraphUpload, GraphUpload, EXEC, (cudaGraphExec_t), (CUgraphExec), (s, h))

US_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return result(ThreadExchangeStreamCaptureMode(mode));
}
US_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return static_cast<cudaError_t>(record_error(static_cast<int>(ThreadExchangeStreamCaptureMode(mode))));
}
