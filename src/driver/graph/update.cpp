// SPDX-License-Identifier: Apache-2.0
// What may change in an executable graph, one node at a time or all at once.
#include "driver/graph/exec.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

using Numbers = std::unordered_map<const GraphNode*, u32>;

Numbers numbers_of(const Graph& g) {
  Numbers n;
  for (const auto& p : g.nodes()) n.emplace(p.get(), static_cast<u32>(n.size()));
  return n;
}

bool same_edges(const std::vector<GraphEdge>& mine, const Numbers& mine_at, const std::vector<GraphEdge>& theirs,
                const Numbers& theirs_at) {
  if (mine.size() != theirs.size()) return false;
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (mine_at.at(mine[i].other) != theirs_at.at(theirs[i].other) || !(mine[i].data == theirs[i].data)) return false;
  return true;
}

UpdateResult difference(const AllocParams& a, const AllocParams& b) {
  return a.block == b.block ? UpdateResult::Success : UpdateResult::NotSupported;
}
UpdateResult difference(const FreeParams& a, const FreeParams& b) {
  return a.address == b.address ? UpdateResult::Success : UpdateResult::NotSupported;
}
UpdateResult difference(const ConditionalParams& a, const ConditionalParams& b) {
  return a.type == b.type && a.bodies.size() == b.bodies.size() ? UpdateResult::Success : UpdateResult::NotSupported;
}
template <class T>
UpdateResult difference(const T&, const T&) {
  return UpdateResult::Success;
}

UpdateResult difference_of(const NodeParams& a, const NodeParams& b) {
  if (a.index() != b.index()) return UpdateResult::NodeTypeChanged;
  return std::visit([&](const auto& v) { return difference(v, std::get<std::decay_t<decltype(v)>>(b)); }, a);
}

Error assign(Runtime& runtime, GraphNode& mine, NodeParams p) {
  if (auto* k = std::get_if<KernelOp>(&p)) US_TRY(GraphExec::prepare(runtime, *k, waits_for_kernel(mine)));
  mine.params = std::move(p);
  return Error::Success;
}

NodeParams plain_copy(const NodeParams& p) {  // of a node without nested graphs
  return std::visit(
      [](const auto& v) -> NodeParams {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, ChildParams> || std::is_same_v<T, ConditionalParams>)
          return std::monostate();
        else
          return v;
      },
      p);
}

}  // namespace

GraphNode* GraphExec::find(const GraphNode& source) {
  std::lock_guard l(m_);
  const auto at = by_source_.find(source.id);
  return at == by_source_.end() ? nullptr : at->second;
}

// What the program sets replaces what kernels have set.
void GraphExec::write_updatable(const GraphNode& n) {
  if (const auto* k = n.as<KernelOp>(); k && k->updatable) k->updatable->write(*k, n.enabled);
}

Error GraphExec::set(GraphNode& source, NodeParams p) {
  std::lock_guard l(m_);
  GraphNode* n = find(source);
  if (!n || difference_of(n->params, p) != UpdateResult::Success) return Error::InvalidValue;
  const auto* k = std::get_if<KernelOp>(&p);
  if (k && device_launch() && k->function->launches_grids()) return Error::InvalidValue;
  US_TRY(assign(all_.runtime(), *n, std::move(p)));
  write_updatable(*n);
  return Error::Success;
}

Error GraphExec::set_enabled(const GraphNode& source, bool on) {
  std::lock_guard l(m_);
  GraphNode* n = find(source);
  if (!n || !facts_of(n->type).can_be_disabled) return Error::InvalidValue;
  n->enabled = on;
  write_updatable(*n);
  return Error::Success;
}

Error GraphExec::get_enabled(const GraphNode& source, bool& out) {
  std::lock_guard l(m_);
  const GraphNode* n = find(source);
  if (!n || !facts_of(n->type).can_be_disabled) return Error::InvalidValue;
  out = n->enabled;
  return Error::Success;
}

Error GraphExec::set_child(const GraphNode& source, Graph& child) {
  std::lock_guard l(m_);
  GraphNode* n = find(source);
  if (!n || n->type != NodeType::Child) return Error::InvalidValue;
  Difference d;
  US_TRY(compare(*n->as<ChildParams>()->graph, child, d));
  return take(*n->as<ChildParams>()->graph, child);
}

Error GraphExec::update(Graph& theirs, Difference& d) {
  std::lock_guard l(m_);
  if (graph_->updatable() || theirs.updatable()) return Error::NotSupported;
  US_TRY(compare(*graph_, theirs, d));
  const Error e = take(*graph_, theirs);
  if (failed(e)) d.result = UpdateResult::Error;
  note_conditions();
  return e;
}

// Nodes are paired in the order of their creation.
Error GraphExec::compare(Graph& mine, Graph& theirs, Difference& d) {
  const auto no = [&](UpdateResult r, GraphNode* n) {
    d = {r, n, nullptr};
    return Error::GraphExecUpdateFailure;
  };
  const auto a = mine.nodes(), b = theirs.nodes();
  if (a.size() != b.size()) return no(UpdateResult::TopologyChanged, nullptr);
  const Numbers mine_at = numbers_of(mine), theirs_at = numbers_of(theirs);
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_edges(a[i]->out, mine_at, b[i]->out, theirs_at) || !same_edges(a[i]->in, mine_at, b[i]->in, theirs_at))
      return no(UpdateResult::TopologyChanged, b[i].get());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i]->type != b[i]->type) return no(UpdateResult::NodeTypeChanged, b[i].get());
    if (const UpdateResult r = difference_of(a[i]->params, b[i]->params); r != UpdateResult::Success)
      return no(r, b[i].get());
    if (auto* c = a[i]->as<ChildParams>()) US_TRY(compare(*c->graph, *b[i]->as<ChildParams>()->graph, d));
    if (auto* c = a[i]->as<ConditionalParams>())
      for (std::size_t k = 0; k < c->bodies.size(); ++k)
        US_TRY(compare(*c->bodies[k], *b[i]->as<ConditionalParams>()->bodies[k], d));
  }
  return Error::Success;
}

Error GraphExec::take(Graph& mine, Graph& theirs) {
  const auto a = mine.nodes(), b = theirs.nodes();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (auto* c = a[i]->as<ChildParams>()) {
      US_TRY(take(*c->graph, *b[i]->as<ChildParams>()->graph));
    } else if (auto* k = a[i]->as<ConditionalParams>()) {
      k->condition = b[i]->as<ConditionalParams>()->condition;  // the kernels now know this one
      for (std::size_t j = 0; j < k->bodies.size(); ++j)
        US_TRY(take(*k->bodies[j], *b[i]->as<ConditionalParams>()->bodies[j]));
    } else {
      US_TRY(assign(theirs.all().runtime(), *a[i], plain_copy(b[i]->params)));
    }
  }
  return Error::Success;
}

}  // namespace us::driver
