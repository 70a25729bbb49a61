// SPDX-License-Identifier: Apache-2.0
// Graph Management: instantiation, updates, memory. The rest: cuda/graph/.
#include "cuda/graph/graphs.h"
#include "cuda/libcudart/runtime_api.h"
#include "driver/device.h"

using namespace us::cuda;
using us::driver::GraphExec;

namespace {

template <class F>
cudaError_t locked(F&& f) {
  return in_context([&](Context& c) {
    GraphLock lock;
    return f(c);
  });
}

cudaError_t instantiate(cudaGraphExec_t* out, cudaGraph_t g, unsigned long long flags, GraphExec::Outcome& outcome) {
  return locked([&](Context& c) { return us::cuda::instantiate(c, g, flags, nullptr, outcome, out); });
}
cudaError_t instantiate_and_upload(cudaGraphExec_t* out, cudaGraph_t g, const cudaGraphInstantiateParams& p,
                                   GraphExec::Outcome& outcome) {
  return in_stream(p.uploadStream, [&](Context& c, Stream& s) {
    GraphLock lock;
    return us::cuda::instantiate(c, g, p.flags, &s, outcome, out);
  });
}

}  // namespace

US_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t g, unsigned long long flags) {
  if (flags & us::driver::kUpload) return done(Error::InvalidValue);
  GraphExec::Outcome outcome;
  return instantiate(out, g, flags, outcome);
}
US_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t g, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(out, g, flags);
}
US_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* out, cudaGraph_t g, cudaGraphInstantiateParams* p) {
  if (!p) return done(Error::InvalidValue);
  GraphExec::Outcome outcome;
  const bool upload = p->flags & us::driver::kUpload;
  const cudaError_t e = upload ? instantiate_and_upload(out, g, *p, outcome) : instantiate(out, g, p->flags, outcome);
  p->result_out = static_cast<cudaGraphInstantiateResult>(outcome.result);
  p->errNode_out = reinterpret_cast<cudaGraphNode_t>(outcome.node);
  return e;
}
US_PTSZ(cudaGraphInstantiateWithParams, (cudaGraphExec_t * out, cudaGraph_t g, cudaGraphInstantiateParams* p),
        (out, g, p))

US_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t h, cudaGraph_t g, cudaGraphExecUpdateResultInfo* info) {
  GraphExec::Difference d;
  const cudaError_t e = locked([&](Context&) { return update(h, g, d); });
  if (info && (e == cudaSuccess || e == cudaErrorGraphExecUpdateFailure))
    *info = {static_cast<cudaGraphExecUpdateResult>(d.result), reinterpret_cast<cudaGraphNode_t>(d.node),
             reinterpret_cast<cudaGraphNode_t>(d.from)};
  return e;
}

US_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* out, cudaGraph_t g, unsigned value,
                                                    unsigned flags) {
  if (!out || (flags & ~1u)) return done(Error::InvalidValue);
  return locked([&](Context&) {
    us::driver::Graph* graph = nullptr;
    US_TRY(find_graph(g, graph));
    us::u64 handle = 0;
    US_TRY(graphs().create_condition(*graph, value, flags & cudaGraphCondAssignDefault, handle));
    *out = handle;
    return Error::Success;
  });
}

namespace {
bool is_device_number(int d) { return d >= 0 && static_cast<us::u32>(d) < runtime().device_count(); }
}  // namespace

US_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* out) {
  return locked([&](Context&) {
    if (!is_device_number(device)) return Error::InvalidDevice;
    if (!out) return Error::InvalidValue;
    us::u64 value = 0;
    US_TRY(graphs().memory.get(static_cast<us::u32>(device), static_cast<int>(attribute), value));
    *static_cast<us::u64*>(out) = value;
    return Error::Success;
  });
}
US_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* in) {
  return locked([&](Context&) {
    if (!is_device_number(device)) return Error::InvalidDevice;
    if (!in) return Error::InvalidValue;
    return graphs().memory.set(static_cast<us::u32>(device), static_cast<int>(attribute), *static_cast<us::u64*>(in));
  });
}
US_API cudaError_t cudaDeviceGraphMemTrim(int device) {
  return locked([&](Context&) {
    if (!is_device_number(device)) return Error::InvalidDevice;
    graphs().memory.trim(static_cast<us::u32>(device));
    return Error::Success;
  });
}
