// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/graph.h"

#include <algorithm>
#include <type_traits>

#include "driver/graph/capture.h"
#include "driver/graph/exec.h"
#include "driver/memory/workspaces.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

Error check_edge(const EdgeData& e, NodeType from, NodeType to) {
  if (e.to_port || std::ranges::any_of(e.reserved, [](u8 b) { return b != 0; })) return Error::InvalidValue;
  if (e.type == 0) return e.from_port == EdgeData::kDefault ? Error::Success : Error::InvalidValue;
  const bool port = e.from_port == EdgeData::kProgrammatic || e.from_port == EdgeData::kLaunchCompletion;
  const bool kernels = from == NodeType::Kernel && to == NodeType::Kernel;
  return e.type == EdgeData::kProgrammaticType && port && kernels ? Error::Success : Error::InvalidValue;
}

std::vector<GraphEdge>::iterator find_edge(std::vector<GraphEdge>& list, const GraphNode& n) {
  return std::ranges::find_if(list, [&](const GraphEdge& e) { return e.other == &n; });
}

NodeParams copy_of(const NodeParams& p) {
  return std::visit(
      [](const auto& v) -> NodeParams {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, ChildParams>) {
          ChildParams c;
          c.graph = v.graph->clone();
          c.graph->nested = true;
          return c;
        } else if constexpr (std::is_same_v<T, ConditionalParams>) {
          ConditionalParams c;
          c.type = v.type;
          c.condition = v.condition;
          for (const auto& b : v.bodies) {
            c.bodies.push_back(b->clone());
            c.bodies.back()->nested = c.bodies.back()->body = true;
            c.handles.push_back(c.bodies.back().get());
          }
          return c;
        } else {
          return v;
        }
      },
      p);
}

template <class F>
bool any_graph(const Graph& g, F&& f) {
  for (const auto& n : g.nodes()) {
    if (f(*n)) return true;
    if (const auto* c = n->as<ChildParams>(); c && any_graph(*c->graph, f)) return true;
    if (const auto* c = n->as<ConditionalParams>())
      for (const auto& b : c->bodies)
        if (any_graph(*b, f)) return true;
  }
  return false;
}

}  // namespace

Graph::~Graph() {
  std::lock_guard l(all_.m_);
  all_.captures.forget(*this);
  all_.by_handle_.erase(this);
  for (const auto& n : nodes_) all_.nodes_.erase(n.get());
  for (const auto& [object, count] : objects_) all_.release(*object, count);
  nodes_.clear();  // nested graphs, while the lock is held
}

std::vector<GraphEdge> Graph::edges_of_all() const {
  std::vector<GraphEdge> all;
  for (const auto& n : nodes_)
    for (const GraphEdge& e : n->out) {
      all.push_back({n.get(), e.data});
      all.push_back(e);
    }
  return all;
}

Error Graph::check_dependencies(std::span<GraphNode* const> after, const EdgeData* edges, NodeType to) const {
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!after[i] || after[i]->graph != this) return Error::InvalidValue;
    if (std::find(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(i), after[i]) !=
        after.begin() + static_cast<std::ptrdiff_t>(i))
      return Error::InvalidValue;
    if (edges) US_TRY(check_edge(edges[i], after[i]->type, to));
  }
  return Error::Success;
}

GraphNode& Graph::add(NodeType type, NodeParams params, std::span<GraphNode* const> after, const EdgeData* edges) {
  auto& n = *nodes_.emplace_back(std::make_unique<GraphNode>());
  n.type = type;
  n.graph = this;
  n.id = all_.next_id_++;
  n.params = std::move(params);
  all_.nodes_.emplace(&n, &n);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const EdgeData e = edges ? edges[i] : EdgeData{};
    n.in.push_back({after[i], e});
    after[i]->out.push_back({&n, e});
  }
  return n;
}

Error Graph::connect(GraphNode& from, GraphNode& to, const EdgeData& e) {
  if (from.graph != this || to.graph != this || &from == &to) return Error::InvalidValue;
  US_TRY(check_edge(e, from.type, to.type));
  if (find_edge(from.out, to) != from.out.end()) return Error::InvalidValue;
  from.out.push_back({&to, e});
  to.in.push_back({&from, e});
  return Error::Success;
}

Error Graph::disconnect(GraphNode& from, GraphNode& to, const EdgeData& e) {
  if (from.graph != this || to.graph != this) return Error::InvalidValue;
  const auto out = find_edge(from.out, to);
  if (out == from.out.end() || !(out->data == e)) return Error::InvalidValue;
  from.out.erase(out);
  to.in.erase(find_edge(to.in, from));
  return Error::Success;
}

Error Graph::remove(GraphNode& n) {
  if (any(NodeType::MemAlloc) || any(NodeType::MemFree)) return Error::NotSupported;
  if (const auto* k = n.as<KernelOp>(); k && k->updatable) return Error::NotSupported;
  for (const GraphEdge& e : n.in) std::erase_if(e.other->out, [&](const GraphEdge& x) { return x.other == &n; });
  for (const GraphEdge& e : n.out) std::erase_if(e.other->in, [&](const GraphEdge& x) { return x.other == &n; });
  all_.nodes_.erase(&n);
  std::erase_if(nodes_, [&](const auto& p) { return p.get() == &n; });
  return Error::Success;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>(all_);
  all_.by_handle_.emplace(copy.get(), copy.get());
  std::unordered_map<const GraphNode*, GraphNode*> made;
  for (const auto& n : nodes_) {
    GraphNode& c = copy->add(n->type, copy_of(n->params), {});
    c.original = n->id;
    c.enabled = n->enabled;
    made[n.get()] = &c;
  }
  for (const auto& n : nodes_) {
    for (const GraphEdge& e : n->in) made[n.get()]->in.push_back({made[e.other], e.data});
    for (const GraphEdge& e : n->out) made[n.get()]->out.push_back({made[e.other], e.data});
  }
  for (const auto& [object, count] : objects_) {
    object->references += count;
    copy->objects_[object] = count;
  }
  return copy;
}

GraphNode* Graph::find_clone_of(const GraphNode& n) const {
  for (const auto& c : nodes_)
    if (c->original == n.id) return c.get();
  return nullptr;
}

void Graph::forget_updatable() {
  any_graph(*this, [](GraphNode& n) {
    if (auto* k = n.as<KernelOp>()) k->updatable = nullptr;
    return false;
  });
}

bool Graph::updatable() const {
  return any_graph(*this, [](const GraphNode& n) { return n.as<KernelOp>() && n.as<KernelOp>()->updatable; });
}

bool Graph::any(NodeType t) const {
  return any_graph(*this, [t](const GraphNode& n) { return n.type == t; });
}

void Graph::retain(UserObject& o, u64 count) { objects_[&o] += count; }

bool Graph::release(UserObject& o, u64 count) {
  const auto at = objects_.find(&o);
  if (at == objects_.end() || at->second < count) return false;
  at->second -= count;
  if (at->second == 0) objects_.erase(at);
  all_.release(o, count);
  return true;
}

Graphs::~Graphs() {
  execs_.clear();
  graphs_.clear();
}

Graph& Graphs::create() {
  auto g = std::make_unique<Graph>(*this);
  by_handle_.emplace(g.get(), g.get());
  g->family = next_id_++;
  return *graphs_.emplace(g.get(), std::move(g)).first->second;
}

std::unique_ptr<Graph> Graphs::create_nested() {
  auto g = std::make_unique<Graph>(*this);
  by_handle_.emplace(g.get(), g.get());
  g->family = next_id_++;
  g->nested = true;
  return g;
}

Error Graphs::destroy(Graph* g) {
  const auto at = graphs_.find(g);
  if (!g || g->nested || at == graphs_.end()) return Error::InvalidValue;
  const auto keep = std::move(at->second);
  graphs_.erase(at);
  return Error::Success;
}

Graph* Graphs::find_graph(const void* handle) const {
  const auto at = by_handle_.find(handle);
  return at == by_handle_.end() ? nullptr : at->second;
}

Graph& Graphs::adopt(std::unique_ptr<Graph> g) { return *graphs_.emplace(g.get(), std::move(g)).first->second; }

std::unique_ptr<Graph> Graphs::disown(Graph& g) {
  auto node = graphs_.extract(&g);
  return std::move(node.mapped());
}

GraphNode* Graphs::find_node(const void* handle) const {
  const auto at = nodes_.find(handle);
  return at == nodes_.end() ? nullptr : at->second;
}

std::shared_ptr<GraphExec> Graphs::find_exec(const void* handle) const {
  const auto at = execs_.find(handle);
  return at == execs_.end() ? nullptr : at->second;
}

GraphExec& Graphs::add(std::shared_ptr<GraphExec> e) { return *execs_.emplace(e.get(), e).first->second; }

Error Graphs::destroy_exec(const void* handle) {
  const auto at = execs_.find(handle);
  if (at == execs_.end()) return Error::InvalidValue;
  const auto keep = std::move(at->second);
  execs_.erase(at);
  keep->retired();
  return Error::Success;
}

Error Graphs::create_condition(Graph& g, u32 initial, bool reset, u64& handle) {
  handle = runtime_.workspaces().take();
  if (!handle) return Error::OutOfMemory;
  auto c = std::make_unique<Condition>(Condition{handle, initial, reset, false, g.family});
  c->value().store(initial);
  conditions_.emplace(handle, std::move(c));
  return Error::Success;
}

Condition* Graphs::find_condition(u64 handle) const {
  const auto at = conditions_.find(handle);
  return at == conditions_.end() ? nullptr : at->second.get();
}

UserObject& Graphs::create_object(void* object, void (*destroy)(void*), u64 references) {
  auto o = std::make_unique<UserObject>(UserObject{object, destroy, references});
  return *objects_.emplace(o.get(), std::move(o)).first->second;
}

UserObject* Graphs::find_object(const void* handle) const {
  const auto at = objects_.find(handle);
  return at == objects_.end() ? nullptr : at->second.get();
}

void Graphs::release(UserObject& o, u64 count) {
  o.references -= std::min(count, o.references);
  if (o.references) return;
  const UserObject last = o;
  objects_.erase(&o);
  last.destroy(last.object);
}

}  // namespace us::driver
