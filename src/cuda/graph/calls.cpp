// SPDX-License-Identifier: Apache-2.0
// Graph Management: what both APIs have with one signature.
#include "cuda/graph/calls.h"

#include <algorithm>
#include <functional>

#include "cuda/graph/dot.h"

using namespace us::cuda;
using namespace us::driver;
using us::u64;

namespace {

CUgraphNode node_handle(GraphNode* n) { return reinterpret_cast<CUgraphNode>(n); }
CUgraph graph_handle(Graph* g) { return reinterpret_cast<CUgraph>(g); }

Error GraphCreate(CUgraph* out, unsigned flags) {
  if (!out || flags) return Error::InvalidValue;
  *out = graph_handle(&graphs().create());
  return Error::Success;
}

Error GraphDestroy(CUgraph g) {
  Graph* graph = nullptr;
  US_TRY(find_graph(g, graph));
  return graphs().destroy(graph);
}

Error GraphClone(CUgraph* out, CUgraph g) {
  Graph* graph = nullptr;
  if (!out) return Error::InvalidValue;
  US_TRY(find_graph(g, graph));
  if (!graph->copyable() || graph->updatable()) return Error::NotSupported;
  *out = graph_handle(&graphs().adopt(graph->clone()));
  return Error::Success;
}

Error GraphNodeFindInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  Graph* graph = nullptr;
  GraphNode* n = nullptr;
  if (!out) return Error::InvalidValue;
  US_TRY(find_graph(clone, graph));
  US_TRY(find_node(original, n));
  GraphNode* found = graph->find_clone_of(*n);
  if (!found) return Error::InvalidValue;
  *out = node_handle(found);
  return Error::Success;
}

Error nodes_where(CUgraph g, const std::function<bool(const GraphNode&)>& wanted, CUgraphNode* out, size_t* count) {
  Graph* graph = nullptr;
  std::vector<GraphNode*> list;
  US_TRY(find_graph(g, graph));
  for (const auto& n : graph->nodes())
    if (wanted(*n)) list.push_back(n.get());
  return list_nodes(list, out, count);
}
Error GraphGetNodes(CUgraph g, CUgraphNode* out, size_t* count) {
  return nodes_where(
      g, [](const GraphNode&) { return true; }, out, count);
}
Error GraphGetRootNodes(CUgraph g, CUgraphNode* out, size_t* count) {
  return nodes_where(
      g, [](const GraphNode& n) { return n.in.empty(); }, out, count);
}

Error GraphDestroyNode(CUgraphNode h) {
  GraphNode* n = nullptr;
  US_TRY(find_node(h, n));
  return n->graph->remove(*n);
}

Error GraphAddEmptyNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count) {
  return add_node({out, g, after, nullptr, count}, NodeType::Empty, {});
}
Error GraphAddChildGraphNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count, CUgraph child) {
  return add_child({out, g, after, nullptr, count}, child);
}
Error GraphAddEventRecordNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count, CUevent e) {
  return add_event({out, g, after, nullptr, count}, NodeType::RecordEvent, e);
}
Error GraphAddEventWaitNode(CUgraphNode* out, CUgraph g, const CUgraphNode* after, size_t count, CUevent e) {
  return add_event({out, g, after, nullptr, count}, NodeType::WaitEvent, e);
}

Error get_event(CUgraphNode h, NodeType type, CUevent* out) {
  GraphNode* n = nullptr;
  if (!out) return Error::InvalidValue;
  US_TRY(find_node(h, type, n));
  const auto* record = n->as<EventRecord>();
  *out = reinterpret_cast<CUevent>((record ? record->event : n->as<EventWait>()->event).get());
  return Error::Success;
}
Error set_event(CUgraphNode h, NodeType type, CUevent e) {
  NodeParams p;
  US_TRY(event_node(type, e, p));
  return set_node(h, type, std::move(p));
}
Error set_exec_event(CUgraphExec x, CUgraphNode h, NodeType type, CUevent e) {
  NodeParams p;
  US_TRY(event_node(type, e, p));
  return set_exec_node(x, h, type, std::move(p));
}
Error GraphEventRecordNodeGetEvent(CUgraphNode n, CUevent* out) { return get_event(n, NodeType::RecordEvent, out); }
Error GraphEventWaitNodeGetEvent(CUgraphNode n, CUevent* out) { return get_event(n, NodeType::WaitEvent, out); }
Error GraphEventRecordNodeSetEvent(CUgraphNode n, CUevent e) { return set_event(n, NodeType::RecordEvent, e); }
Error GraphEventWaitNodeSetEvent(CUgraphNode n, CUevent e) { return set_event(n, NodeType::WaitEvent, e); }
Error GraphExecEventRecordNodeSetEvent(CUgraphExec x, CUgraphNode n, CUevent e) {
  return set_exec_event(x, n, NodeType::RecordEvent, e);
}
Error GraphExecEventWaitNodeSetEvent(CUgraphExec x, CUgraphNode n, CUevent e) {
  return set_exec_event(x, n, NodeType::WaitEvent, e);
}

Error GraphChildGraphNodeGetGraph(CUgraphNode h, CUgraph* out) {
  GraphNode* n = nullptr;
  if (!out) return Error::InvalidValue;
  US_TRY(find_node(h, NodeType::Child, n));
  *out = graph_handle(n->as<ChildParams>()->graph.get());
  return Error::Success;
}

Error GraphExecChildGraphNodeSetParams(CUgraphExec x, CUgraphNode h, CUgraph child) {
  std::shared_ptr<GraphExec> exec;
  GraphNode* n = nullptr;
  Graph* graph = nullptr;
  US_TRY(find_exec(x, exec));
  US_TRY(find_node(h, NodeType::Child, n));
  US_TRY(find_graph(child, graph));
  return exec->set_child(*n, *graph);
}

Error GraphExecDestroy(CUgraphExec x) { return graphs().destroy_exec(x); }

Error GraphNodeSetEnabled(CUgraphExec x, CUgraphNode h, unsigned on) {
  std::shared_ptr<GraphExec> exec;
  GraphNode* n = nullptr;
  US_TRY(find_exec(x, exec));
  US_TRY(find_node(h, n));
  return exec->set_enabled(*n, on != 0);
}
Error GraphNodeGetEnabled(CUgraphExec x, CUgraphNode h, unsigned* out) {
  std::shared_ptr<GraphExec> exec;
  GraphNode* n = nullptr;
  bool on = false;
  if (!out) return Error::InvalidValue;
  US_TRY(find_exec(x, exec));
  US_TRY(find_node(h, n));
  US_TRY(exec->get_enabled(*n, on));
  *out = on;
  return Error::Success;
}

Error GraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  GraphNode *a = nullptr, *b = nullptr;
  US_TRY(find_node(to, NodeType::Kernel, a));
  US_TRY(find_node(from, NodeType::Kernel, b));
  if (a->as<KernelOp>()->updatable || b->as<KernelOp>()->updatable) return Error::NotSupported;
  if (a != b) a->as<KernelOp>()->keep_attributes(*b->as<KernelOp>());
  return Error::Success;
}

Error GraphDebugDotPrint(CUgraph g, const char* path, unsigned flags) {
  Graph* graph = nullptr;
  US_TRY(find_graph(g, graph));
  if (!path) return Error::InvalidValue;
  return write_dot(*graph, path, flags) ? Error::Success : Error::OperatingSystem;
}

constexpr unsigned kNoDestructorSync = 1, kMove = 1;

Error UserObjectCreate(CUuserObject* out, void* object, CUhostFn destroy, unsigned references, unsigned flags) {
  if (!out || !destroy || references == 0 || references > INT_MAX || flags != kNoDestructorSync)
    return Error::InvalidValue;
  *out = reinterpret_cast<CUuserObject>(&graphs().create_object(object, destroy, references));
  return Error::Success;
}
Error find_object(CUuserObject h, unsigned count, UserObject*& out) {
  out = graphs().find_object(h);
  return out && count && count <= INT_MAX ? Error::Success : Error::InvalidValue;
}
Error UserObjectRetain(CUuserObject h, unsigned count) {
  UserObject* o = nullptr;
  US_TRY(find_object(h, count, o));
  o->references += count;
  return Error::Success;
}
Error UserObjectRelease(CUuserObject h, unsigned count) {
  UserObject* o = nullptr;
  US_TRY(find_object(h, count, o));
  graphs().release(*o, count);
  return Error::Success;
}
Error GraphRetainUserObject(CUgraph g, CUuserObject h, unsigned count, unsigned flags) {
  UserObject* o = nullptr;
  Graph* graph = nullptr;
  US_TRY(find_graph(g, graph));
  US_TRY(find_object(h, count, o));
  if (flags & ~kMove) return Error::InvalidValue;
  if (!(flags & kMove)) o->references += count;
  graph->retain(*o, count);
  return Error::Success;
}
Error GraphReleaseUserObject(CUgraph g, CUuserObject h, unsigned count) {
  UserObject* o = nullptr;
  Graph* graph = nullptr;
  US_TRY(find_graph(g, graph));
  US_TRY(find_object(h, count, o));
  return graph->release(*o, count) ? Error::Success : Error::InvalidValue;
}

}  // namespace

US_BOTH(GraphCreate, (CUgraph * out, unsigned flags), (out, flags))
US_BOTH(GraphDestroy, (CUgraph g), (g))
US_BOTH(GraphClone, (CUgraph * out, CUgraph g), (out, g))
US_BOTH(GraphNodeFindInClone, (CUgraphNode * out, CUgraphNode original, CUgraph clone), (out, original, clone))
US_BOTH(GraphGetNodes, (CUgraph g, CUgraphNode* out, size_t* count), (g, out, count))
US_BOTH(GraphGetRootNodes, (CUgraph g, CUgraphNode* out, size_t* count), (g, out, count))
US_BOTH(GraphDestroyNode, (CUgraphNode n), (n))
US_BOTH(GraphAddEmptyNode, (CUgraphNode * out, CUgraph g, const CUgraphNode* after, size_t count),
        (out, g, after, count))
US_BOTH(GraphAddChildGraphNode, (CUgraphNode * out, CUgraph g, const CUgraphNode* after, size_t count, CUgraph child),
        (out, g, after, count, child))
US_BOTH(GraphAddEventRecordNode, (CUgraphNode * out, CUgraph g, const CUgraphNode* after, size_t count, CUevent e),
        (out, g, after, count, e))
US_BOTH(GraphAddEventWaitNode, (CUgraphNode * out, CUgraph g, const CUgraphNode* after, size_t count, CUevent e),
        (out, g, after, count, e))
US_BOTH(GraphEventRecordNodeGetEvent, (CUgraphNode n, CUevent* out), (n, out))
US_BOTH(GraphEventWaitNodeGetEvent, (CUgraphNode n, CUevent* out), (n, out))
US_BOTH(GraphEventRecordNodeSetEvent, (CUgraphNode n, CUevent e), (n, e))
US_BOTH(GraphEventWaitNodeSetEvent, (CUgraphNode n, CUevent e), (n, e))
US_BOTH(GraphExecEventRecordNodeSetEvent, (CUgraphExec x, CUgraphNode n, CUevent e), (x, n, e))
US_BOTH(GraphExecEventWaitNodeSetEvent, (CUgraphExec x, CUgraphNode n, CUevent e), (x, n, e))
US_BOTH(GraphChildGraphNodeGetGraph, (CUgraphNode n, CUgraph* out), (n, out))
US_BOTH(GraphExecChildGraphNodeSetParams, (CUgraphExec x, CUgraphNode n, CUgraph child), (x, n, child))
US_BOTH(GraphExecDestroy, (CUgraphExec x), (x))
US_BOTH(GraphNodeSetEnabled, (CUgraphExec x, CUgraphNode n, unsigned on), (x, n, on))
US_BOTH(GraphNodeGetEnabled, (CUgraphExec x, CUgraphNode n, unsigned* out), (x, n, out))
US_BOTH(GraphKernelNodeCopyAttributes, (CUgraphNode to, CUgraphNode from), (to, from))
US_BOTH(GraphDebugDotPrint, (CUgraph g, const char* path, unsigned flags), (g, path, flags))
US_BOTH(UserObjectCreate, (CUuserObject * out, void* object, CUhostFn destroy, unsigned references, unsigned flags),
        (out, object, destroy, references, flags))
US_BOTH(UserObjectRetain, (CUuserObject o, unsigned count), (o, count))
US_BOTH(UserObjectRelease, (CUuserObject o, unsigned count), (o, count))
US_BOTH(GraphRetainUserObject, (CUgraph g, CUuserObject o, unsigned count, unsigned flags), (g, o, count, flags))
US_BOTH(GraphReleaseUserObject, (CUgraph g, CUuserObject o, unsigned count), (g, o, count))
