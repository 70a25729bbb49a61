// SPDX-License-Identifier: Apache-2.0
// The rules here are those that an H200's runtime was seen to follow (oracle/programs/api_graph_capture_refusals.txt).
#include "driver/graph/capture.h"

#include <algorithm>

#include "driver/context.h"
#include "driver/graph/graph.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

// Is every node of `wanted` one of `from` or before it?
bool all_before(const std::vector<GraphNode*>& wanted, const std::vector<GraphNode*>& from) {
  std::vector<GraphNode*> work = from;
  std::unordered_set<GraphNode*> seen(from.begin(), from.end());
  while (!work.empty()) {
    GraphNode* n = work.back();
    work.pop_back();
    for (const GraphEdge& e : n->in)
      if (seen.insert(e.other).second) work.push_back(e.other);
  }
  return std::ranges::all_of(wanted, [&](GraphNode* n) { return seen.contains(n); });
}

bool blocking(const Stream& s) { return !s.non_blocking(); }

}  // namespace

CaptureMode Captures::thread_mode() const {
  const auto& told = graphs_.runtime().settings().capture_mode;
  return told ? told() : CaptureMode::Global;
}

void Captures::invalidate(Capture& c) { c.invalid = true; }

// The streams are free again; the graph stays with whoever took it.
void Captures::leave(Capture& c) {
  for (Stream* s : c.streams) {
    s->told_nodes = std::move(s->capture.nodes);  // the program may still hold what cudaStreamGetCaptureInfo returned
    s->told_edges = std::move(s->capture.edges);
    s->capture = {};
  }
  c.streams.clear();
  c.ended = true;
  std::erase_if(all_, [&](const auto& p) { return p.get() == &c; });
  active_.store(static_cast<u32>(all_.size()), std::memory_order_relaxed);
}

Error Captures::begin(Stream& s, CaptureMode mode, Graph* into, std::span<GraphNode* const> after,
                      const EdgeData* edges) {
  std::lock_guard l(graphs_.mutex());
  if (s.kind() == Stream::Kind::Legacy) {
    US_TRY(use_legacy(s.context()));
    return Error::StreamCaptureUnsupported;
  }
  if (s.capture.capture) return Error::IllegalState;
  if (into) US_TRY(into->check_dependencies(after, nullptr, NodeType::Empty));
  auto c = std::make_shared<Capture>();
  c->id = next_id_++;
  c->mode = mode;
  c->thread = std::this_thread::get_id();
  c->context = &s.context();
  c->origin = &s;
  c->own_graph = !into;
  c->graph = into ? into : &graphs_.create();
  c->streams.push_back(&s);
  s.capture.capture = c;
  for (std::size_t i = 0; i < after.size(); ++i) s.capture.add(after[i], edges ? edges[i] : EdgeData{});
  all_.push_back(std::move(c));
  active_.store(static_cast<u32>(all_.size()), std::memory_order_relaxed);
  return Error::Success;
}

Error Captures::end(Stream& s, Graph*& out) {
  std::lock_guard l(graphs_.mutex());
  out = nullptr;
  const std::shared_ptr<Capture> c = s.capture.capture;
  if (!c) return Error::IllegalState;
  if (c->origin != &s) {
    invalidate(*c);
    return Error::StreamCaptureUnmatched;
  }
  Error e = Error::Success;
  if (c->mode != CaptureMode::Relaxed && c->thread != std::this_thread::get_id()) {
    e = Error::StreamCaptureWrongThread;
  } else if (c->invalid) {
    e = Error::StreamCaptureInvalidated;
  } else {
    if (!all_before(c->left, s.capture.nodes)) e = Error::StreamCaptureUnjoined;
    for (const Stream* other : c->streams)
      if (other != &s && !all_before(other->capture.nodes, s.capture.nodes)) e = Error::StreamCaptureUnjoined;
  }
  leave(*c);
  if (!failed(e))
    out = c->graph;
  else if (c->own_graph && c->graph)
    graphs_.destroy(c->graph);
  return e;
}

Error Captures::update(Stream& s, std::span<GraphNode* const> nodes, const EdgeData* edges, bool replace) {
  std::lock_guard l(graphs_.mutex());
  const std::shared_ptr<Capture> c = s.capture.capture;
  if (!c) return Error::IllegalState;
  if (c->invalid) return Error::StreamCaptureInvalidated;
  if (!c->graph) return Error::InvalidValue;
  US_TRY(c->graph->check_dependencies(nodes, nullptr, NodeType::Empty));
  if (replace) {
    s.capture.nodes.clear();
    s.capture.edges.clear();
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) s.capture.add(nodes[i], edges ? edges[i] : EdgeData{});
  return Error::Success;
}

Error Captures::unsafe() {
  if (!any() || thread_mode() == CaptureMode::Relaxed) return Error::Success;
  std::lock_guard l(graphs_.mutex());
  Error e = Error::Success;
  for (const auto& c : all_) {
    if (c->mode == CaptureMode::Relaxed) continue;
    const bool mine = c->thread == std::this_thread::get_id();
    const bool forbids = mine || (c->mode == CaptureMode::Global && thread_mode() == CaptureMode::Global);
    if (!forbids) continue;
    invalidate(*c);
    e = Error::StreamCaptureUnsupported;
  }
  return e;
}

Error Captures::use_legacy(Context& context) {
  if (!any()) return Error::Success;
  std::lock_guard l(graphs_.mutex());
  Error e = Error::Success;
  for (const auto& c : all_) {
    if (c->context != &context || std::ranges::none_of(c->streams, [](Stream* s) { return blocking(*s); })) continue;
    invalidate(*c);
    e = Error::StreamCaptureImplicit;
  }
  return e;
}

Error Captures::see_legacy(Context& context) {
  if (!any()) return Error::Success;
  std::lock_guard l(graphs_.mutex());
  for (const auto& c : all_)
    if (c->context == &context && std::ranges::any_of(c->streams, [](Stream* s) { return blocking(*s); }))
      return Error::StreamCaptureImplicit;
  return Error::Success;
}

Error Captures::synchronize_context(Context& context) {
  if (!any()) return Error::Success;
  std::lock_guard l(graphs_.mutex());
  Error e = Error::Success;
  for (const auto& c : all_) {
    if (c->context != &context) continue;
    invalidate(*c);
    e = Error::StreamCaptureUnsupported;
  }
  return e;
}

Error Captures::synchronize_stream(Stream& s) {
  if (!any()) return Error::Success;
  std::lock_guard l(graphs_.mutex());
  if (s.capture.capture) return refuse(s, Error::StreamCaptureUnsupported);
  if (s.kind() == Stream::Kind::Legacy) US_TRY(use_legacy(s.context()));
  return unsafe();
}

Error Captures::synchronize_event(const Event& e) {
  if (!any() && !e.is_captured()) return Error::Success;
  std::lock_guard l(graphs_.mutex());
  if (const auto& c = e.captured().capture) {
    if (c->invalid || c->ended) return Error::InvalidValue;
    invalidate(*c);
    return Error::CapturedEvent;
  }
  return unsafe();
}

Error Captures::elapsed(const Event& e) {
  if (!any() && !e.is_captured()) return Error::Success;
  std::lock_guard l(graphs_.mutex());
  const auto& c = e.captured().capture;
  if (!c) return Error::Success;
  return c->invalid || c->ended ? Error::InvalidValue : Error::CapturedEvent;
}

Error Captures::refuse(Stream& s, Error because) {
  std::lock_guard l(graphs_.mutex());
  if (!s.capture.capture) return Error::Success;
  invalidate(*s.capture.capture);
  return because;
}

Error Captures::point_of(Stream& s, CapturePoint*& point) {
  point = nullptr;
  if (s.kind() == Stream::Kind::Legacy) return use_legacy(s.context());
  if (!s.capture.capture) return Error::Success;
  if (s.capture.capture->invalid || !s.capture.capture->graph) return Error::StreamCaptureInvalidated;
  point = &s.capture;
  return Error::Success;
}

Error Captures::admit(Stream& s, bool& captured) {
  captured = false;
  if (!any()) return Error::Success;
  std::lock_guard l(graphs_.mutex());
  CapturePoint* at = nullptr;
  US_TRY(point_of(s, at));
  captured = at != nullptr;
  return Error::Success;
}

Error Captures::add(Stream& s, NodeParams params, bool& captured, bool programmatic) {
  std::lock_guard l(graphs_.mutex());
  CapturePoint* at = nullptr;
  US_TRY(point_of(s, at));
  captured = at != nullptr;
  if (!captured) return Error::Success;
  const NodeType type = type_of(params);
  if (programmatic)
    for (std::size_t i = 0; i < at->nodes.size(); ++i)
      if (at->nodes[i]->type == NodeType::Kernel)
        at->edges[i] = {.from_port = EdgeData::kProgrammatic, .type = EdgeData::kProgrammaticType};
  if (type != NodeType::Kernel)
    for (EdgeData& e : at->edges) e = {};
  at->set(&at->capture->graph->add(type, std::move(params), at->nodes, at->edges.data()));
  return Error::Success;
}

Error Captures::record(Event& e, Stream& s, bool& captured) {
  captured = false;
  if (!any() && !e.is_captured()) return Error::Success;
  std::lock_guard l(graphs_.mutex());
  CapturePoint* at = nullptr;
  US_TRY(point_of(s, at));
  captured = at != nullptr;
  e.set_captured(at ? *at : CapturePoint{});
  return Error::Success;
}

Error Captures::wait(Stream& s, Event& e, bool external, bool& captured) {
  captured = false;
  if (!any() && !e.is_captured()) return Error::Success;
  std::lock_guard l(graphs_.mutex());
  CapturePoint* at = nullptr;
  US_TRY(point_of(s, at));
  const std::shared_ptr<Capture> from = e.captured().capture;
  const auto no = [&](Error because) {
    if (at) invalidate(*at->capture);
    return because;
  };
  if (from && (from->invalid || from->ended)) return no(Error::InvalidValue);
  if (external && at) {
    if (from) return no(Error::InvalidValue);
    return Error::Success;  // a node of its own, by the caller
  }
  if (!from) {
    if (at && e.node()) return no(Error::StreamCaptureIsolation);
    captured = at != nullptr;
    return Error::Success;
  }
  captured = true;
  if (s.kind() == Stream::Kind::Legacy) {
    invalidate(*from);
    return Error::StreamCaptureImplicit;
  }
  if (!at) {
    s.capture = e.captured();
    from->streams.push_back(&s);
    return Error::Success;
  }
  if (at->capture != from) {
    invalidate(*from);
    return no(Error::StreamCaptureMerge);
  }
  for (std::size_t i = 0; i < e.captured().nodes.size(); ++i) at->add(e.captured().nodes[i], e.captured().edges[i]);
  return Error::Success;
}

void Captures::set_edges(Event& e, const EdgeData& data) {
  if (!any()) return;
  std::lock_guard l(graphs_.mutex());
  if (e.captured().capture) e.captured().edges.assign(e.captured().nodes.size(), data);
}

void Captures::forget(Stream& s) {
  std::lock_guard l(graphs_.mutex());
  const std::shared_ptr<Capture> c = s.capture.capture;
  if (!c) return;
  if (c->origin == &s) {
    invalidate(*c);
    leave(*c);
    if (c->own_graph && c->graph) graphs_.destroy(c->graph);
    return;
  }
  c->left.insert(c->left.end(), s.capture.nodes.begin(), s.capture.nodes.end());
  std::erase(c->streams, &s);
  s.capture = {};
}

void Captures::forget(Graph& g) {
  for (const auto& c : all_) {
    if (c->graph != &g) continue;
    c->graph = nullptr;
    invalidate(*c);
    for (Stream* s : c->streams) {
      s->capture.nodes.clear();
      s->capture.edges.clear();
    }
  }
}

}  // namespace us::driver
