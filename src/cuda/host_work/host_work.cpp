// SPDX-License-Identifier: Apache-2.0
#include "cuda/host_work/host_work.h"

#include <cstdlib>
#include <memory>

namespace us::host_work {
namespace {

using Work = std::function<void()>;

void CUDART_CB run_work(void* work) { (*static_cast<Work*>(work))(); }
void CUDART_CB run_once(void* work) {
  run_work(work);
  delete static_cast<Work*>(work);
}
void CUDART_CB delete_work(void* work) { delete static_cast<Work*>(work); }

// A graph may run it any number of times, so it keeps the work.
bool give_to_graph(cudaGraph_t graph, std::unique_ptr<Work> work) {
  cudaUserObject_t object;
  if (cudaUserObjectCreate(&object, work.get(), delete_work, 1, cudaUserObjectNoDestructorSync) != cudaSuccess)
    return false;
  work.release();
  return cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove) == cudaSuccess;
}

}  // namespace

void Touched::matrix(const void* p, long rows, long columns, long ld, size_t element, bool writes) {
  if (rows <= 0 || columns <= 0) return;
  if (ld == rows) rows *= columns, columns = 1;
  const auto first = reinterpret_cast<unsigned long long>(p);
  for (long c = 0; c < columns; ++c)
    ranges_.push_back({first + static_cast<size_t>(c * ld) * element, static_cast<size_t>(rows) * element, writes});
}

void Touched::triangle(const void* p, long n, long ld, size_t element, bool upper, bool writes) {
  const auto* const bytes = static_cast<const char*>(p);
  const long e = static_cast<long>(element);
  for (long c = 0; c < n; ++c)
    matrix(bytes + (c * ld + (upper ? 0 : c)) * e, upper ? c + 1 : n - c, 1, ld, element, writes);
}

void Touched::vector(const void* p, long n, long increment, size_t element, bool writes) {
  const long step = std::labs(increment);
  if (step == 1)
    matrix(p, n, 1, n, element, writes);
  else
    matrix(p, 1, step ? n : 1, step, element, writes);
}

bool run_in(cudaStream_t stream, const Touched& touched, Work work) {
  auto job = std::make_unique<Work>(std::move(work));
  if (const understudyFunctions* const u = understudyGetFunctions())
    u->nextHostFunctionTouches(touched.ranges().data(), touched.ranges().size());
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  unsigned long long id = 0;
  if (stream) cudaStreamGetCaptureInfo(stream, &status, &id, &graph, nullptr, nullptr, nullptr);
  Work* const raw = job.get();
  if (status == cudaStreamCaptureStatusActive)
    return give_to_graph(graph, std::move(job)) && cudaLaunchHostFunc(stream, run_work, raw) == cudaSuccess;
  if (cudaLaunchHostFunc(stream, run_once, raw) != cudaSuccess) return false;
  job.release();
  return true;
}

}  // namespace us::host_work
