// SPDX-License-Identifier: Apache-2.0
#include "cuda/graph/graphs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_set>

#include "cuda/devices.h"
#include "driver/device.h"

namespace us::cuda {

using namespace driver;

namespace {
template <class T>
T handle(void* object) {
  return static_cast<T>(object);
}
CUgraphNode handle_of(GraphNode* n) { return reinterpret_cast<CUgraphNode>(n); }
}  // namespace

Error find_graph(const void* h, Graph*& out) {
  out = graphs().find_graph(h);
  return out ? Error::Success : Error::InvalidValue;
}

Error find_node(const void* h, GraphNode*& out) {
  out = graphs().find_node(h);
  return out ? Error::Success : Error::InvalidValue;
}

Error find_node(const void* h, NodeType type, GraphNode*& out) {
  US_TRY(find_node(h, out));
  return out->type == type ? Error::Success : Error::InvalidValue;
}

Error find_exec(const void* h, std::shared_ptr<GraphExec>& out) {
  out = graphs().find_exec(h);
  return out ? Error::Success : Error::InvalidValue;
}

Error find_nodes(const void* const* handles, size_t count, std::vector<GraphNode*>& out) {
  if (!handles && count) return Error::InvalidValue;
  for (size_t i = 0; i < count; ++i) US_TRY(find_node(handles[i], out.emplace_back()));
  return Error::Success;
}

namespace {
Error find_place(const NodePosition& p, NodeType type, Graph*& graph, std::vector<GraphNode*>& after) {
  if (!p.out) return Error::InvalidValue;
  US_TRY(find_graph(p.graph, graph));
  US_TRY(find_nodes(reinterpret_cast<const void* const*>(p.after), p.count, after));
  return graph->check_dependencies(after, p.edges, type);
}
}  // namespace

Error check_position(const NodePosition& p, NodeType type) {
  Graph* graph = nullptr;
  std::vector<GraphNode*> after;
  return find_place(p, type, graph, after);
}

Error add_node(const NodePosition& p, NodeType type, NodeParams params) {
  Graph* graph = nullptr;
  std::vector<GraphNode*> after;
  US_TRY(find_place(p, type, graph, after));
  *p.out = handle_of(&graph->add(type, std::move(params), after, p.edges));
  return Error::Success;
}

Error add_child(const NodePosition& p, CUgraph child) {
  Graph* source = nullptr;
  US_TRY(find_graph(child, source));
  US_TRY(check_position(p, NodeType::Child));
  if (!source->copyable()) return Error::NotSupported;
  ChildParams c;
  c.graph = source->clone();
  c.graph->nested = true;
  c.graph->forget_updatable();
  return add_node(p, NodeType::Child, std::move(c));
}

Error event_node(NodeType type, CUevent e, NodeParams& out) {
  std::shared_ptr<Event> event;
  if (failed(find_event(e, event))) return Error::InvalidValue;
  if (type == NodeType::RecordEvent)
    out = EventRecord{std::move(event)};
  else
    out = EventWait{std::move(event)};
  return Error::Success;
}

Error add_event(const NodePosition& p, NodeType type, CUevent e) {
  NodeParams params;
  US_TRY(event_node(type, e, params));
  return add_node(p, type, std::move(params));
}

Error host_params(void (*function)(void*), void* data, HostOp& out) {
  out = {function, data};
  return function ? Error::Success : Error::InvalidValue;
}

Error fill_params(Context& c, const CUDA_MEMSET_NODE_PARAMS& p, FillOp& out) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return Error::InvalidValue;
  if (p.height == 0 || p.width == 0) return Error::InvalidValue;
  if (p.height > 1 && p.pitch < p.width * p.elementSize) return Error::InvalidValue;
  out = {{.dst = p.dst,
          .pitch = p.pitch,
          .width = p.width,
          .height = p.height,
          .value = p.value,
          .element = p.elementSize}};
  return out.check(c);
}

namespace {
// Memory of this size that is free again in all that the new node comes after: its address is used again.
std::shared_ptr<GraphBlock> freed_before(const Graph& g, const NodePosition& p, u32 device, u64 bytes) {
  std::vector<GraphNode*> work;
  std::unordered_set<GraphNode*> seen;
  if (failed(find_nodes(reinterpret_cast<const void* const*>(p.after), p.count, work))) return nullptr;
  while (!work.empty()) {
    GraphNode* n = work.back();
    work.pop_back();
    if (!seen.insert(n).second) continue;
    for (const GraphEdge& e : n->in) work.push_back(e.other);
  }
  std::map<u64, int> left;  // by address, in the whole graph
  for (const auto& n : g.nodes()) {
    if (const auto* a = n->as<AllocParams>()) ++left[a->block->address()];
    if (const auto* f = n->as<FreeParams>(); f && seen.contains(n.get())) --left[f->address];
  }
  for (const auto& n : g.nodes())
    if (const auto* a = n->as<AllocParams>();
        a && a->block->device() == device && a->block->bytes() == bytes && left[a->block->address()] == 0)
      return a->block;
  return nullptr;
}
}  // namespace

Error add_alloc(const NodePosition& p, const CUmemPoolProps& props, u64 bytes, const void* given, size_t given_bytes,
                u64& out) {
  US_TRY(check_position(p, NodeType::MemAlloc));
  Graph* graph = nullptr;
  US_TRY(find_graph(p.graph, graph));
  // Managed memory of a graph is like the device's own: the host cannot read it.
  const bool kind =
      props.allocType == CU_MEM_ALLOCATION_TYPE_PINNED || props.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
  if (bytes == 0 || !kind) return Error::InvalidValue;
  if (props.location.type != CU_MEM_LOCATION_TYPE_DEVICE) return Error::NotSupported;
  if (!is_device(props.location.id)) return Error::InvalidValue;
  if (props.handleTypes != CU_MEM_HANDLE_TYPE_NONE) return Error::NotSupported;
  if (graph->nested) return Error::NotSupported;
  const u32 ordinal = static_cast<u32>(props.location.id);
  AllocParams a;
  a.block = freed_before(*graph, p, ordinal, bytes);
  if (!a.block)
    US_TRY(graphs().memory.allocate(runtime().device(ordinal).primary_for_runtime(), ordinal, bytes, a.block));
  out = a.block->address();
  const auto* first = static_cast<const u8*>(given);
  a.properties.assign(first, first + given_bytes);
  return add_node(p, NodeType::MemAlloc, std::move(a));
}

Error add_free(const NodePosition& p, u64 address) {
  US_TRY(check_position(p, NodeType::MemFree));
  Graph* graph = nullptr;
  US_TRY(find_graph(p.graph, graph));
  if (!graphs().memory.knows(address)) return Error::InvalidValue;
  int left = 0, frees = 0;
  for (const auto& n : graph->nodes()) {
    if (const auto* a = n->as<AllocParams>(); a && a->block->address() == address) ++left;
    if (const auto* f = n->as<FreeParams>(); f && f->address == address) --left, ++frees;
  }
  if (frees && left <= 0) return Error::InvalidValue;
  return add_node(p, NodeType::MemFree, FreeParams{address});
}

Error add_conditional(const NodePosition& p, u64 condition, u32 type, u32 size, CUgraph*& bodies) {
  US_TRY(check_position(p, NodeType::Conditional));
  Condition* c = graphs().find_condition(condition);
  Graph* graph = nullptr;
  US_TRY(find_graph(p.graph, graph));
  if (!c || c->used || c->family != graph->family) return Error::InvalidValue;
  const bool good = type == ConditionalParams::If      ? size == 1 || size == 2
                    : type == ConditionalParams::While ? size == 1
                                                       : type == ConditionalParams::Switch && size > 0;
  if (!good) return Error::InvalidValue;
  ConditionalParams params;
  params.type = static_cast<ConditionalParams::Type>(type);
  params.condition = c;
  for (u32 i = 0; i < size; ++i) {
    Graph& body = *params.bodies.emplace_back(graphs().create_nested());
    body.body = true;
    body.family = graph->family;
    params.handles.push_back(&body);
  }
  bodies = reinterpret_cast<CUgraph*>(params.handles.data());
  c->used = true;
  return add_node(p, NodeType::Conditional, std::move(params));
}

Error set_node(CUgraphNode h, NodeType type, NodeParams params) {
  GraphNode* n = nullptr;
  US_TRY(find_node(h, type, n));
  n->params = std::move(params);
  return Error::Success;
}

Error set_exec_node(CUgraphExec e, CUgraphNode h, NodeType type, NodeParams params) {
  std::shared_ptr<GraphExec> exec;
  GraphNode* n = nullptr;
  US_TRY(find_exec(e, exec));
  US_TRY(find_node(h, type, n));
  return exec->set(*n, std::move(params));
}

Error list_nodes(const std::vector<GraphNode*>& list, CUgraphNode* out, size_t* count) {
  if (!count) return Error::InvalidValue;
  if (!out) {
    *count = list.size();
    return Error::Success;
  }
  for (size_t i = 0; i < *count; ++i) out[i] = i < list.size() ? handle_of(list[i]) : nullptr;
  *count = std::min(*count, list.size());
  return Error::Success;
}

Error list_edges(const std::vector<GraphEdge>& pairs, CUgraphNode* from, CUgraphNode* to, EdgeData* data,
                 size_t* count) {
  if (!count || (from == nullptr) != (to == nullptr) || (data && !from)) return Error::InvalidValue;
  const size_t edges = pairs.size() / 2;
  if (!from) {
    *count = edges;
    return Error::Success;
  }
  for (size_t i = 0; i < *count; ++i) {
    if (i < edges && !data && !pairs[2 * i].data.plain()) return Error::LossyQuery;  // those before it were told
    from[i] = i < edges ? handle_of(pairs[2 * i].other) : nullptr;
    to[i] = i < edges ? handle_of(pairs[2 * i + 1].other) : nullptr;
    if (data) data[i] = i < edges ? pairs[2 * i].data : EdgeData{};
  }
  *count = std::min(*count, edges);
  return Error::Success;
}

Error list_neighbours(const std::vector<GraphEdge>& list, CUgraphNode* out, EdgeData* data, size_t* count) {
  if (!count || (data && !out)) return Error::InvalidValue;
  std::vector<GraphNode*> nodes;
  for (const GraphEdge& e : list) nodes.push_back(e.other);
  if (out && !data && std::ranges::any_of(list, [](const GraphEdge& e) { return !e.data.plain(); }))
    return Error::LossyQuery;
  if (data)
    for (size_t i = 0; i < *count; ++i) data[i] = i < list.size() ? list[i].data : EdgeData{};
  return list_nodes(nodes, out, count);
}

Error change_edges(CUgraph g, const CUgraphNode* from, const CUgraphNode* to, const EdgeData* data, size_t count,
                   bool add) {
  Graph* graph = nullptr;
  std::vector<GraphNode*> a, b;
  US_TRY(find_graph(g, graph));
  US_TRY(find_nodes(reinterpret_cast<const void* const*>(from), count, a));
  US_TRY(find_nodes(reinterpret_cast<const void* const*>(to), count, b));
  if (!add && count && (graph->any(NodeType::MemAlloc) || graph->any(NodeType::MemFree))) return Error::NotSupported;
  for (size_t i = 0; i < count; ++i) {
    const EdgeData e = data ? data[i] : EdgeData{};
    US_TRY(add ? graph->connect(*a[i], *b[i], e) : graph->disconnect(*a[i], *b[i], e));
  }
  return Error::Success;
}

Error instantiate(Context& c, CUgraph g, u64 flags, Stream* upload, GraphExec::Outcome& outcome, CUgraphExec* out) {
  Graph* graph = nullptr;
  US_TRY(runtime().captures().unsafe());
  if (!out) return Error::InvalidValue;
  US_TRY(find_graph(g, graph));
  if (upload) US_TRY(upload->context().not_captured(*upload));
  std::shared_ptr<GraphExec> exec;
  US_TRY(GraphExec::make(c, *graph, flags, outcome, exec));
  if (const Error e = upload ? exec->upload(*upload) : Error::Success; failed(e)) {
    exec->retired();
    return e;
  }
  *out = reinterpret_cast<CUgraphExec>(&graphs().add(std::move(exec)));
  return Error::Success;
}

Error update(CUgraphExec e, CUgraph g, GraphExec::Difference& d) {
  std::shared_ptr<GraphExec> exec;
  Graph* graph = nullptr;
  US_TRY(find_exec(e, exec));
  US_TRY(find_graph(g, graph));
  return exec->update(*graph, d);
}

Error begin_capture(Stream& s, int mode, CUgraph into, const CUgraphNode* after, const EdgeData* edges, size_t count) {
  if (mode < 0 || mode > static_cast<int>(CaptureMode::Relaxed)) return Error::InvalidValue;
  Graph* graph = nullptr;
  std::vector<GraphNode*> nodes;
  if (into) US_TRY(find_graph(into, graph));
  if (count) US_TRY(find_nodes(reinterpret_cast<const void* const*>(after), count, nodes));
  return runtime().captures().begin(s, static_cast<CaptureMode>(mode), graph, nodes, edges);
}

Error end_capture(Stream& s, CUgraph* out) {
  Graph* graph = nullptr;
  const Error e = runtime().captures().end(s, graph);
  if (out) *out = reinterpret_cast<CUgraph>(graph);
  return e;
}

namespace {
enum Status { kNone, kActive, kInvalidated };
}  // namespace

Error capture_status(Stream& s, int& out) {
  if (s.kind() == Stream::Kind::Legacy) US_TRY(runtime().captures().see_legacy(s.context()));
  const auto& c = s.capture.capture;
  out = !c ? kNone : c->invalid ? kInvalidated : kActive;
  return Error::Success;
}

Error capture_info(Stream& s, int& status, unsigned long long* id, CUgraph* graph, const CUgraphNode** after,
                   const EdgeData** edges, size_t* count) {
  US_TRY(capture_status(s, status));
  if (status != kActive) return Error::Success;
  const CapturePoint& at = s.capture;
  if (after && !edges && std::ranges::any_of(at.edges, [](const EdgeData& e) { return !e.plain(); }))
    return Error::LossyQuery;
  if (id) *id = at.capture->id;
  if (graph) *graph = reinterpret_cast<CUgraph>(at.capture->graph);
  if (after) *after = reinterpret_cast<const CUgraphNode*>(at.nodes.data());
  if (edges) *edges = at.edges.data();
  if (count) *count = at.nodes.size();
  return Error::Success;
}

Error update_dependencies(Stream& s, const CUgraphNode* list, const EdgeData* edges, size_t count, unsigned flags) {
  if (flags > 1) return Error::InvalidValue;
  std::vector<GraphNode*> nodes;
  if (!s.capture.capture) return Error::IllegalState;
  US_TRY(find_nodes(reinterpret_cast<const void* const*>(list), count, nodes));
  return runtime().captures().update(s, nodes, edges, flags == 1);
}

Error exchange_mode(int& mode) {  // any number is taken, as an H200 does; it forbids like ThreadLocal
  mode = static_cast<int>(std::exchange(thread_state().capture_mode, static_cast<CaptureMode>(mode)));
  return Error::Success;
}

}  // namespace us::cuda
