// SPDX-License-Identifier: Apache-2.0
// Graph Management: edges, types and flags; host and memory nodes. What both APIs have with types of one layout.
#include <bit>
#include <cstring>

#include "cuda/graph/calls.h"
#include "cuda/graph/nodes.h"

using namespace us::cuda;
using namespace us::driver;
using us::u64;

namespace {

template <class T>
EdgeData* edges_of(T* e) {
  static_assert(sizeof(T) == sizeof(EdgeData));
  return reinterpret_cast<EdgeData*>(e);
}
template <class T>
const EdgeData* edges_of(const T* e) {
  static_assert(sizeof(T) == sizeof(EdgeData));
  return reinterpret_cast<const EdgeData*>(e);
}

Error GraphGetEdges(CUgraph g, CUgraphNode* from, CUgraphNode* to, EdgeData* data, size_t* count) {
  Graph* graph = nullptr;
  US_TRY(find_graph(g, graph));
  return list_edges(graph->edges_of_all(), from, to, data, count);
}
Error GraphNodeGetDependencies(CUgraphNode h, CUgraphNode* out, EdgeData* data, size_t* count) {
  GraphNode* n = nullptr;
  US_TRY(find_node(h, n));
  return list_neighbours(n->in, out, data, count);
}
Error GraphNodeGetDependentNodes(CUgraphNode h, CUgraphNode* out, EdgeData* data, size_t* count) {
  GraphNode* n = nullptr;
  US_TRY(find_node(h, n));
  return list_neighbours(n->out, out, data, count);
}
Error GraphAddDependencies(CUgraph g, const CUgraphNode* from, const CUgraphNode* to, const EdgeData* data,
                           size_t count) {
  return change_edges(g, from, to, data, count, true);
}
Error GraphRemoveDependencies(CUgraph g, const CUgraphNode* from, const CUgraphNode* to, const EdgeData* data,
                              size_t count) {
  return change_edges(g, from, to, data, count, false);
}

template <class T>
Error GraphNodeGetType(CUgraphNode h, T* out) {
  GraphNode* n = nullptr;
  if (!out) return Error::InvalidValue;
  US_TRY(find_node(h, n));
  *out = static_cast<T>(n->type);
  return Error::Success;
}
template <class T>
Error GraphExecGetFlags(CUgraphExec h, T* out) {
  std::shared_ptr<GraphExec> exec;
  if (!out) return Error::InvalidValue;
  US_TRY(find_exec(h, exec));
  *out = exec->shown_flags();
  return Error::Success;
}

template <class Id, class V>
Error GraphKernelNodeGetAttribute(CUgraphNode h, Id id, V* out) {
  GraphNode* n = nullptr;
  if (!out) return Error::InvalidValue;
  US_TRY(find_node(h, NodeType::Kernel, n));
  return get_attribute(*n, static_cast<int>(id), reinterpret_cast<CUlaunchAttributeValue&>(*out));
}
template <class Id, class V>
Error GraphKernelNodeSetAttribute(CUgraphNode h, Id id, const V* v) {
  GraphNode* n = nullptr;
  if (!v) return Error::InvalidValue;
  US_TRY(find_node(h, NodeType::Kernel, n));
  return set_attribute(*n, static_cast<int>(id), reinterpret_cast<CUlaunchAttributeValue&>(const_cast<V&>(*v)));
}

template <class P>
Error GraphAddHostNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count, const P* p) {
  const NodePosition at{out, g, after, nullptr, count};
  HostOp h;
  US_TRY(check_position(at, NodeType::Host));
  if (!p) return Error::InvalidValue;
  US_TRY(host_params(p->fn, p->userData, h));
  return add_node(at, NodeType::Host, h);
}
template <class P>
Error GraphHostNodeGetParams(CUgraphNode n, P* out) {
  GraphNode* node = nullptr;
  if (!out) return Error::InvalidValue;
  US_TRY(find_node(n, NodeType::Host, node));
  *out = {node->as<HostOp>()->function, node->as<HostOp>()->data};
  return Error::Success;
}
template <class P>
Error GraphHostNodeSetParams(CUgraphNode n, const P* p) {
  GraphNode* node = nullptr;
  HostOp h;
  US_TRY(find_node(n, NodeType::Host, node));
  if (!p) return Error::InvalidValue;
  US_TRY(host_params(p->fn, p->userData, h));
  return set_node(n, NodeType::Host, h);
}
template <class P>
Error GraphExecHostNodeSetParams(CUgraphExec x, CUgraphNode n, const P* p) {
  std::shared_ptr<GraphExec> exec;
  GraphNode* node = nullptr;
  HostOp h;
  US_TRY(find_exec(x, exec));
  US_TRY(find_node(n, NodeType::Host, node));
  if (!p) return Error::InvalidValue;
  US_TRY(host_params(p->fn, p->userData, h));
  return set_exec_node(x, n, NodeType::Host, h);
}

template <class P>
Error GraphAddMemAllocNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count, P* p) {
  static_assert(sizeof(P) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
  if (!p) return Error::InvalidValue;
  u64 at = 0;
  const auto& props = reinterpret_cast<const CUmemPoolProps&>(p->poolProps);
  US_TRY(add_alloc({out, g, after, nullptr, count}, props, p->bytesize, p, sizeof *p, at));
  p->dptr = std::bit_cast<decltype(p->dptr)>(at);
  return Error::Success;
}
template <class P>
Error GraphMemAllocNodeGetParams(CUgraphNode n, P* out) {
  GraphNode* node = nullptr;
  if (!out) return Error::InvalidValue;
  US_TRY(find_node(n, NodeType::MemAlloc, node));
  const CUDA_MEM_ALLOC_NODE_PARAMS p = alloc_params(*node->as<AllocParams>());
  static_assert(sizeof p == sizeof *out);
  std::memcpy(out, &p, sizeof p);
  return Error::Success;
}
// The address is a void* to the one and a number to the other.
template <class T>
Error GraphAddMemFreeNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count, T at) {
  return add_free({out, g, after, nullptr, count}, std::bit_cast<u64>(at));
}
Error GraphMemFreeNodeGetParams(CUgraphNode n, void* out) {
  GraphNode* node = nullptr;
  if (!out) return Error::InvalidValue;
  US_TRY(find_node(n, NodeType::MemFree, node));
  *static_cast<u64*>(out) = node->as<FreeParams>()->address;
  return Error::Success;
}

}  // namespace

#define EDGES(Edge) (CUgraph g, CUgraphNode * from, CUgraphNode * to, Edge * data, size_t * count)
#define NEIGHBOURS(Edge) (CUgraphNode h, CUgraphNode * out, Edge * data, size_t * count)
#define CHANGES(Edge) (CUgraph g, const CUgraphNode* from, const CUgraphNode* to, const Edge* data, size_t count)
#define TYPED(T) (CUgraphNode n, T * out)
#define GIVEN(T) (CUgraphNode n, const T* p)
#define EXEC_GIVEN(T) (CUgraphExec x, CUgraphNode n, const T* p)
#define EXEC_FLAGS(T) (CUgraphExec x, T * out)
#define ADDED(T) (CUgraphNode * out, CUgraph g, const CUgraphNode* after, size_t count, T p)
#define ATTRIBUTE(Id, T) (CUgraphNode n, Id id, T * v)

US_BOTH_AS(GraphGetEdges, GraphGetEdges_v2, EDGES, (cudaGraphEdgeData), (CUgraphEdgeData),
           (g, from, to, edges_of(data), count))
US_BOTH_AS(GraphNodeGetDependencies, GraphNodeGetDependencies_v2, NEIGHBOURS, (cudaGraphEdgeData), (CUgraphEdgeData),
           (h, out, edges_of(data), count))
US_BOTH_AS(GraphNodeGetDependentNodes, GraphNodeGetDependentNodes_v2, NEIGHBOURS, (cudaGraphEdgeData),
           (CUgraphEdgeData), (h, out, edges_of(data), count))
US_BOTH_AS(GraphAddDependencies, GraphAddDependencies_v2, CHANGES, (cudaGraphEdgeData), (CUgraphEdgeData),
           (g, from, to, edges_of(data), count))
US_BOTH_AS(GraphRemoveDependencies, GraphRemoveDependencies_v2, CHANGES, (cudaGraphEdgeData), (CUgraphEdgeData),
           (g, from, to, edges_of(data), count))
US_BOTH_AS(GraphNodeGetType, GraphNodeGetType, TYPED, (cudaGraphNodeType), (CUgraphNodeType), (n, out))
US_BOTH_AS(GraphExecGetFlags, GraphExecGetFlags, EXEC_FLAGS, (unsigned long long), (cuuint64_t), (x, out))
US_BOTH_AS(GraphKernelNodeGetAttribute, GraphKernelNodeGetAttribute, ATTRIBUTE,
           (cudaLaunchAttributeID, cudaLaunchAttributeValue), (CUkernelNodeAttrID, CUkernelNodeAttrValue), (n, id, v))
US_BOTH_AS(GraphKernelNodeSetAttribute, GraphKernelNodeSetAttribute, ATTRIBUTE,
           (cudaLaunchAttributeID, const cudaLaunchAttributeValue), (CUkernelNodeAttrID, const CUkernelNodeAttrValue),
           (n, id, v))
US_BOTH_AS(GraphAddHostNode, GraphAddHostNode, ADDED, (const cudaHostNodeParams*), (const CUDA_HOST_NODE_PARAMS*),
           (out, g, after, count, p))
US_BOTH_AS(GraphHostNodeGetParams, GraphHostNodeGetParams, TYPED, (cudaHostNodeParams), (CUDA_HOST_NODE_PARAMS),
           (n, out))
US_BOTH_AS(GraphHostNodeSetParams, GraphHostNodeSetParams, GIVEN, (cudaHostNodeParams), (CUDA_HOST_NODE_PARAMS), (n, p))
US_BOTH_AS(GraphExecHostNodeSetParams, GraphExecHostNodeSetParams, EXEC_GIVEN, (cudaHostNodeParams),
           (CUDA_HOST_NODE_PARAMS), (x, n, p))
US_BOTH_AS(GraphAddMemAllocNode, GraphAddMemAllocNode, ADDED, (cudaMemAllocNodeParams*), (CUDA_MEM_ALLOC_NODE_PARAMS*),
           (out, g, after, count, p))
US_BOTH_AS(GraphMemAllocNodeGetParams, GraphMemAllocNodeGetParams, TYPED, (cudaMemAllocNodeParams),
           (CUDA_MEM_ALLOC_NODE_PARAMS), (n, out))
US_BOTH_AS(GraphAddMemFreeNode, GraphAddMemFreeNode, ADDED, (void*), (CUdeviceptr), (out, g, after, count, p))
US_BOTH_AS(GraphMemFreeNodeGetParams, GraphMemFreeNodeGetParams, TYPED, (void), (CUdeviceptr), (n, out))
