// SPDX-License-Identifier: Apache-2.0
#include "cuda/libcufft/plans.h"

#include <limits.h>

#include <map>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <understudy.h>

namespace us::cufft {
namespace {

struct Table {
  std::mutex m;  // guards the members below
  std::map<cufftHandle, std::shared_ptr<Plan>> plans;
  cufftHandle next = 1;
};
// Never destroyed: programs call from their own static destructors.
Table& table() {
  static Table* const t = new Table;
  return *t;
}

// What a host function in the stream is given. The transform outlives the plan's handle.
struct Job {
  std::shared_ptr<Transform> transform;
  void* in;
  void* out;
  int direction;
};

void CUDART_CB run_job(void* job) {
  const Job& j = *static_cast<Job*>(job);
  j.transform->run(j.in, j.out, j.direction);
}
void CUDART_CB run_job_once(void* job) {
  run_job(job);
  delete static_cast<Job*>(job);
}
void CUDART_CB delete_job(void* job) { delete static_cast<Job*>(job); }

// A graph may run it any number of times, so it keeps the job.
bool give_to_graph(cudaGraph_t graph, Job* job) {
  cudaUserObject_t object;
  if (cudaUserObjectCreate(&object, job, delete_job, 1, cudaUserObjectNoDestructorSync) != cudaSuccess) {
    delete job;
    return false;
  }
  return cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove) == cudaSuccess;
}

bool submit(cudaStream_t stream, Job* job) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaGraph_t graph = nullptr;
  unsigned long long id = 0;
  const cudaError_t e =
      stream ? cudaStreamGetCaptureInfo(stream, &status, &id, &graph, nullptr, nullptr, nullptr) : cudaSuccess;
  if (e == cudaSuccess && status == cudaStreamCaptureStatusActive)
    return give_to_graph(graph, job) && cudaLaunchHostFunc(stream, run_job, job) == cudaSuccess;
  if (cudaLaunchHostFunc(stream, run_job_once, job) == cudaSuccess) return true;
  delete job;
  return false;
}

// The device's checks take the host function for the kernels that cuFFT would launch.
void announce(const Shape& s, void* in, void* out) {
  const understudyFunctions* const u = understudyGetFunctions();
  if (!u) return;
  std::vector<understudyRange> ranges;
  const auto add = [&](void* base, bool of_in) {
    for (const auto& [first, end] : s.touched(of_in, in == out))
      ranges.push_back({reinterpret_cast<unsigned long long>(base) + first, end - first, !of_in});
  };
  add(in, true), add(out, false);
  u->nextHostFunctionTouches(ranges.data(), ranges.size());
}

bool known(cufftType t) {
  return t == CUFFT_C2C || t == CUFFT_R2C || t == CUFFT_C2R || t == CUFFT_Z2Z || t == CUFFT_D2Z || t == CUFFT_Z2D;
}

bool fits(long long v) { return v >= 1 && v <= INT_MAX; }

cufftResult take(int rank, const Advanced& from, Layout& to) {
  if (!fits(from.stride) || !fits(from.dist)) return CUFFT_INVALID_VALUE;
  for (int d = 0; d < rank; ++d) {
    if (d > 0 && !fits(from.embed[d])) return CUFFT_INVALID_SIZE;
    to.embed[d] = static_cast<int>(from.embed[d]);
  }
  to.stride = static_cast<int>(from.stride);
  to.dist = static_cast<int>(from.dist);
  return CUFFT_SUCCESS;
}

}  // namespace

cufftResult create(cufftHandle* out) {
  if (!out) return CUFFT_INVALID_VALUE;
  Table& t = table();
  std::lock_guard l(t.m);
  *out = t.next++;
  t.plans[*out] = std::make_shared<Plan>();
  return CUFFT_SUCCESS;
}

std::shared_ptr<Plan> find(cufftHandle h) {
  Table& t = table();
  std::lock_guard l(t.m);
  const auto it = t.plans.find(h);
  return it == t.plans.end() ? nullptr : it->second;
}

cufftResult destroy(cufftHandle h) {
  Table& t = table();
  std::lock_guard l(t.m);
  return t.plans.erase(h) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult describe(int rank, const long long* n, const Advanced& in, const Advanced& out, cufftType type,
                     long long batch, Shape& s) {
  if (rank < 1 || rank > 3 || !n || !in.embed != !out.embed) return CUFFT_INVALID_VALUE;
  if (!known(type)) return CUFFT_INVALID_TYPE;
  for (int d = 0; d < rank; ++d) {
    if (!fits(n[d])) return CUFFT_INVALID_SIZE;
    s.n[d] = static_cast<int>(n[d]);
  }
  if (!fits(batch)) return CUFFT_INVALID_SIZE;
  s.type = type;
  s.rank = rank;
  s.batch = static_cast<int>(batch);
  if (!in.embed) return CUFFT_SUCCESS;
  if (const cufftResult r = take(rank, in, s.in.emplace()); r != CUFFT_SUCCESS) return r;
  return take(rank, out, s.out.emplace());
}

cufftResult describe_narrow(numerics::Format format, Shape& s) {
  for (const int n : s.n)
    if (n & (n - 1)) return CUFFT_NOT_SUPPORTED;
  s.narrow = format;
  return CUFFT_SUCCESS;
}

cufftResult make(cufftHandle h, const Shape& s, size_t* work_bytes) {
  const auto plan = find(h);
  if (!plan || plan->transform) return CUFFT_INVALID_PLAN;
  plan->transform = std::make_shared<Transform>(s);
  if (work_bytes) *work_bytes = s.work_bytes();
  return CUFFT_SUCCESS;
}

cufftResult execute(cufftHandle h, void* in, void* out, int direction) {
  const auto plan = find(h);
  if (!plan || !plan->transform) return CUFFT_INVALID_PLAN;
  const Shape& s = plan->transform->shape();
  const bool forward = direction == CUFFT_FORWARD && !s.inverse_real(),
             inverse = direction == CUFFT_INVERSE && !s.forward_real();
  if (!in || !out || !(forward || inverse)) return CUFFT_INVALID_VALUE;
  if (!plan->transform->prepare(in, out, direction)) return CUFFT_INTERNAL_ERROR;
  announce(plan->transform->shape(), in, out);
  return submit(plan->stream, new Job{plan->transform, in, out, direction}) ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

}  // namespace us::cufft
