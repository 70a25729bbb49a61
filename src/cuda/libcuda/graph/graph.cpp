// SPDX-License-Identifier: Apache-2.0
// Graph Management: instantiation, updates, memory; older names. The rest: cuda/graph/.
#include "cuda/graph/graphs.h"
#include "cuda/libcuda/driver_api.h"
#include "driver/device.h"

using namespace us::cuda;
using us::driver::GraphExec;
using us::driver::GraphNode;

// The header maps old names to new functions; here each has its own.
#undef cuGraphAddDependencies
#undef cuGraphExecUpdate
#undef cuGraphGetEdges
#undef cuGraphInstantiate
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphRemoveDependencies

namespace {

template <class F>
CUresult locked(F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  GraphLock lock;
  return result(f());
}

CUresult make_exec(CUgraphExec* out, CUgraph g, us::u64 flags, GraphExec::Outcome& outcome) {
  return in_current([&](Context& c) {
    GraphLock lock;
    return instantiate(c, g, flags, nullptr, outcome, out);
  });
}
CUresult make_exec_and_upload(CUgraphExec* out, CUgraph g, const CUDA_GRAPH_INSTANTIATE_PARAMS& p,
                              GraphExec::Outcome& outcome) {
  return in_stream(p.hUploadStream, [&](Context& c, Stream& s) {
    GraphLock lock;
    return instantiate(c, g, p.flags, &s, outcome, out);
  });
}

CUgraphNode node_handle(GraphNode* n) { return reinterpret_cast<CUgraphNode>(n); }

}  // namespace

US_API CUresult cuGraphGetEdges(CUgraph g, CUgraphNode* from, CUgraphNode* to, size_t* count);
US_API CUresult cuGraphGetEdges(CUgraph g, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges_v2(g, from, to, nullptr, count);
}
US_API CUresult cuGraphNodeGetDependencies(CUgraphNode h, CUgraphNode* out, size_t* count);
US_API CUresult cuGraphNodeGetDependencies(CUgraphNode h, CUgraphNode* out, size_t* count) {
  return cuGraphNodeGetDependencies_v2(h, out, nullptr, count);
}
US_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode h, CUgraphNode* out, size_t* count);
US_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode h, CUgraphNode* out, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(h, out, nullptr, count);
}
US_API CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode* from, const CUgraphNode* to, size_t count);
US_API CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return cuGraphAddDependencies_v2(g, from, to, nullptr, count);
}
US_API CUresult cuGraphRemoveDependencies(CUgraph g, const CUgraphNode* from, const CUgraphNode* to, size_t count);
US_API CUresult cuGraphRemoveDependencies(CUgraph g, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return cuGraphRemoveDependencies_v2(g, from, to, nullptr, count);
}

US_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph g, unsigned long long flags) {
  if (flags & us::driver::kUpload) return CUDA_ERROR_INVALID_VALUE;
  GraphExec::Outcome outcome;
  return make_exec(out, g, flags, outcome);
}
US_API CUresult cuGraphInstantiate_v2(CUgraphExec* out, CUgraph g, CUgraphNode* bad, char* log, size_t bytes);
US_API CUresult cuGraphInstantiate_v2(CUgraphExec* out, CUgraph g, CUgraphNode* bad, char* log, size_t bytes) {
  GraphExec::Outcome outcome;
  const CUresult e = make_exec(out, g, 0, outcome);
  if (bad) *bad = node_handle(outcome.node);
  if (log && bytes) *log = 0;
  return e;
}
US_API CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph g, CUgraphNode* bad, char* log, size_t bytes);
US_API CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph g, CUgraphNode* bad, char* log, size_t bytes) {
  return cuGraphInstantiate_v2(out, g, bad, log, bytes);
}
US_API CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS* p) {
  if (!p) return CUDA_ERROR_INVALID_VALUE;
  GraphExec::Outcome outcome;
  const bool upload = p->flags & us::driver::kUpload;
  const CUresult e = upload ? make_exec_and_upload(out, g, *p, outcome) : make_exec(out, g, p->flags, outcome);
  p->result_out = static_cast<CUgraphInstantiateResult>(outcome.result);
  p->hErrNode_out = node_handle(outcome.node);
  return e;
}
US_PTSZ(cuGraphInstantiateWithParams, (CUgraphExec * out, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS* p), (out, g, p))

US_API CUresult cuGraphExecUpdate_v2(CUgraphExec h, CUgraph g, CUgraphExecUpdateResultInfo* info) {
  GraphExec::Difference d;
  const CUresult e = locked([&] { return update(h, g, d); });
  if (info && (e == CUDA_SUCCESS || e == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE))
    *info = {static_cast<CUgraphExecUpdateResult>(d.result), node_handle(d.node), node_handle(d.from)};
  return e;
}
US_API CUresult cuGraphExecUpdate(CUgraphExec h, CUgraph g, CUgraphNode* bad, CUgraphExecUpdateResult* out);
US_API CUresult cuGraphExecUpdate(CUgraphExec h, CUgraph g, CUgraphNode* bad, CUgraphExecUpdateResult* out) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult e = cuGraphExecUpdate_v2(h, g, &info);
  if (bad) *bad = info.errorNode;
  if (out) *out = info.result;
  return e;
}

US_API CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* out, CUgraph g, CUcontext context,
                                               unsigned value, unsigned flags) {
  if (!out || (flags & ~1u)) return CUDA_ERROR_INVALID_VALUE;
  return locked([&] {
    us::driver::Graph* graph = nullptr;
    Context* c = nullptr;
    if (!context) US_TRY(driver_context(c));
    US_TRY(find_graph(g, graph));
    us::u64 handle = 0;
    US_TRY(graphs().create_condition(*graph, value, flags & CU_GRAPH_COND_ASSIGN_DEFAULT, handle));
    *out = handle;
    return Error::Success;
  });
}

US_API CUresult cuDeviceGetGraphMemAttribute(CUdevice d, CUgraphMem_attribute attribute, void* out) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  us::u64 value = 0;
  const Error e = graphs().memory.get(static_cast<us::u32>(d), static_cast<int>(attribute), value);
  if (!us::driver::failed(e)) *static_cast<us::u64*>(out) = value;
  return result(e);
}
US_API CUresult cuDeviceSetGraphMemAttribute(CUdevice d, CUgraphMem_attribute attribute, void* in) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  if (!in) return CUDA_ERROR_INVALID_VALUE;
  return result(graphs().memory.set(static_cast<us::u32>(d), static_cast<int>(attribute), *static_cast<us::u64*>(in)));
}
US_API CUresult cuDeviceGraphMemTrim(CUdevice d) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  graphs().memory.trim(static_cast<us::u32>(d));
  return CUDA_SUCCESS;
}
