// SPDX-License-Identifier: Apache-2.0
// Stream capture: names of older releases. The present ones: cuda/graph/stream_calls.cpp.
#include "cuda/libcuda/driver_api.h"

#undef cuStreamBeginCapture
US_API CUresult cuStreamBeginCapture(CUstream stream);
US_API CUresult cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
US_PTSZ(cuStreamBeginCapture, (CUstream stream), (stream))

#undef cuStreamGetCaptureInfo
US_API CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* g,
                                          const CUgraphNode** after, size_t* count);
US_API CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* g,
                                          const CUgraphNode** after, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, g, after, nullptr, count);
}
US_PTSZ(cuStreamGetCaptureInfo_v2,
        (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* g, const CUgraphNode** after,
         size_t* count),
        (stream, status, id, g, after, count))
US_API CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id);
US_API CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
US_PTSZ(cuStreamGetCaptureInfo, (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id), (stream, status, id))

#undef cuStreamUpdateCaptureDependencies
US_API CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* list, size_t count, unsigned flags);
US_API CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* list, size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, list, nullptr, count, flags);
}
US_PTSZ(cuStreamUpdateCaptureDependencies, (CUstream stream, CUgraphNode* list, size_t count, unsigned flags),
        (stream, list, count, flags))
