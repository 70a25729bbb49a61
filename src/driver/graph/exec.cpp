// SPDX-License-Identifier: Apache-2.0
// Instantiation and launch. Updates and setters: graph_update.cpp.
#include "driver/graph/exec.h"

#include <algorithm>
#include <set>

#include "driver/code/module.h"
#include "driver/device.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

// What the device can start by itself.
bool allowed_on_device(const GraphNode& n) {
  if (const auto* c = n.as<CopyOp>()) {
    const CopyNames names = c->shown();
    return !names.dst.array && !names.src.array && !c->dst.pageable() && !c->src.pageable();
  }
  if (const auto* k = n.as<KernelOp>()) return !k->function->launches_grids();
  return facts_of(n.type).on_device;
}

// Nodes behind all that they depend on, else in the order of creation. Fewer than there are: a cycle.
std::vector<GraphNode*> in_order(const Graph& g) {
  std::unordered_map<const GraphNode*, std::size_t> open;
  std::set<std::pair<u64, GraphNode*>> ready;
  for (const auto& n : g.nodes()) {
    open[n.get()] = n->in.size();
    if (n->in.empty()) ready.emplace(n->id, n.get());
  }
  std::vector<GraphNode*> order;
  while (!ready.empty()) {
    GraphNode* n = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(n);
    for (const GraphEdge& e : n->out)
      if (--open[e.other] == 0) ready.emplace(e.other->id, e.other);
  }
  return order;
}

template <class F>
void each_node(Graph& g, F&& f) {
  for (const auto& n : g.nodes()) {
    f(*n);
    if (auto* c = n->as<ChildParams>()) each_node(*c->graph, f);
    if (auto* c = n->as<ConditionalParams>())
      for (const auto& b : c->bodies) each_node(*b, f);
  }
}

}  // namespace

struct GraphExec::Turn {
  std::shared_ptr<GraphExec> exec;
  ConditionalParams* params;
  Context* context;
  NodeRef node;
  bool ran = false;
};

GraphExec::GraphExec(Context& c, Graph& source, u64 flags)
    : all_(source.all()),
      where_{&c, c.id()},
      flags_(flags),
      number_(all_.next_executable()),
      graph_(source.clone()),
      counted_(source.executables) {
  ++*counted_;
}

GraphExec::~GraphExec() {
  std::lock_guard l(all_.mutex());
  graph_.reset();
}

void GraphExec::retired() { --*counted_; }

Error GraphExec::check(const Graph& g, Outcome& o, bool body) const {
  const auto bad = [&](InstantiateResult r, GraphNode* n) {
    o = {r, n};
    return Error::InvalidValue;
  };
  if (in_order(g).size() != g.nodes().size()) return bad(InstantiateResult::InvalidStructure, nullptr);
  if (device_launch() && g.nodes().empty()) return bad(InstantiateResult::Error, nullptr);
  for (const auto& n : g.nodes()) {
    const bool good = (!body || facts_of(n->type).in_body) && (!device_launch() || allowed_on_device(*n));
    if (!good) return bad(InstantiateResult::NodeOperationNotSupported, n.get());
    if (const auto* c = n->as<ChildParams>()) US_TRY(check(*c->graph, o, body));
    if (const auto* c = n->as<ConditionalParams>())
      for (const auto& b : c->bodies) US_TRY(check(*b, o, true));
  }
  return Error::Success;
}

Error GraphExec::make(Context& c, Graph& source, u64 flags, Outcome& o, std::shared_ptr<GraphExec>& out) {
  o.result = InstantiateResult::Error;
  if (flags & ~u64(kAutoFree | kUpload | kDeviceLaunch | kUseNodePriority)) return Error::InvalidValue;
  if ((flags & kAutoFree) && (flags & kDeviceLaunch)) return Error::InvalidValue;
  US_TRY(c.sticky());
  std::lock_guard l(source.all().mutex());
  if (*source.executables && (!source.copyable() || source.updatable())) return Error::NotSupported;
  std::shared_ptr<GraphExec> e(new GraphExec(c, source, flags));
  const auto fail = [&](Error error) {
    e->retired();
    return error;
  };
  if (const Error error = e->check(source, o, false); failed(error)) return fail(error);
  Error error = Error::Success;
  each_node(*e->graph_, [&](GraphNode& n) {
    if (!failed(error)) error = prepare(source.all().runtime(), n);
    if (const auto* k = n.as<KernelOp>()) {
      e->runs_ |= k->function->module().launches_graphs();
      write_updatable(n);
    }
    if (n.type == NodeType::MemAlloc) e->allocs_.push_back(&n);
    if (n.type == NodeType::MemFree) e->frees_.push_back(&n);
  });
  if (failed(error)) return fail(error);
  std::vector<u32> ends;
  error = order(*e->graph_, e->plan_, {}, ends);
  if (!failed(error)) error = e->plan_bodies(*e->graph_);
  if (failed(error)) return fail(error);
  e->index(*e->graph_);
  e->note_conditions();
  o.result = InstantiateResult::Success;
  out = std::move(e);
  return Error::Success;
}

// The function of a kernel node ends with its context: nodes may outlive both.
Error GraphExec::prepare(Runtime& runtime, KernelOp& k, bool dependent) {
  const Context* alive = runtime.find_context(k.where.context);
  if (!alive || alive->id() != k.where.id) return Error::ContextIsDestroyed;
  return k.prepare(dependent);
}

Error GraphExec::prepare(Runtime& runtime, GraphNode& n) {
  if (n.type == NodeType::SemaphoreSignal || n.type == NodeType::SemaphoreWait) return Error::NotSupported;
  auto* k = n.as<KernelOp>();
  return k ? prepare(runtime, *k, waits_for_kernel(n)) : Error::Success;
}

// The end of a kernel that the next one does not wait for is the launch's to wait for.
u32 GraphExec::order_early(Plan& p, GraphNode* n, const GraphEdge& e, u32 primary) {
  Step& before = p.steps[primary];
  before.tells_begun |= e.data.from_port == EdgeData::kLaunchCompletion;
  before.last &= !waits_for_kernel(*n);
  Step& s = p.steps.emplace_back();
  s.node = n;
  s.early = &e;
  s.primary = primary;
  return static_cast<u32>(p.steps.size() - 1);
}

// Nested graphs are laid out in place, between the node's predecessors and a step that joins their ends.
Error GraphExec::order(Graph& g, Plan& p, std::span<const u32> before, std::vector<u32>& ends) {
  std::unordered_map<const GraphNode*, u32> step_of;
  const auto add = [&](GraphNode* n, std::vector<u32> after) {
    for (const u32 a : after) p.steps[a].last = false;
    Step& s = p.steps.emplace_back();
    s.node = n;
    s.after = std::move(after);
    return static_cast<u32>(p.steps.size() - 1);
  };
  for (GraphNode* n : in_order(g)) {
    std::vector<u32> after;
    if (const GraphEdge* e = early_edge(*n)) {
      step_of[n] = order_early(p, n, *e, step_of.at(e->other));
      continue;
    }
    for (const GraphEdge& e : n->in) after.push_back(step_of.at(e.other));
    if (after.empty()) after.assign(before.begin(), before.end());
    auto* child = n->as<ChildParams>();
    if (child && !child->graph->nodes().empty()) {
      if (after.size() > 1) after.assign(1, add(nullptr, after));
      std::vector<u32> inner;
      US_TRY(order(*child->graph, p, after, inner));
      after = std::move(inner);
    }
    step_of[n] = add(child ? nullptr : n, std::move(after));
  }
  for (const auto& n : g.nodes())
    if (n->out.empty()) ends.push_back(step_of.at(n.get()));
  return Error::Success;
}

Error GraphExec::plan_bodies(Graph& g) {
  for (const auto& n : g.nodes()) {
    if (auto* c = n->as<ChildParams>()) US_TRY(plan_bodies(*c->graph));
    auto* c = n->as<ConditionalParams>();
    if (!c) continue;
    for (const auto& b : c->bodies) {
      std::vector<u32> ends;
      US_TRY(order(*b, bodies_[b.get()], {}, ends));
      US_TRY(plan_bodies(*b));
    }
  }
  return Error::Success;
}

void GraphExec::index(Graph& g) {
  each_node(g, [&](GraphNode& n) { by_source_[n.original] = &n; });
}

// Memory is allocated and freed in the order of calls: the addresses are this graph's alone.
Error GraphExec::start_memory(Stream& s, const NodeRef& last) {
  if (allocs_.empty() && frees_.empty()) return Error::Success;
  GraphMemory& memory = all_.memory;
  std::map<u64, std::pair<std::shared_ptr<GraphBlock>, int>> blocks;  // by address; what the launch leaves allocated
  for (GraphNode* n : allocs_) {
    const auto& block = n->as<AllocParams>()->block;
    if (flags_ & kAutoFree) memory.end(block->address());
    if (memory.live(block->address())) return Error::InvalidValue;
    auto& [b, left] = blocks[block->address()];
    b = block;
    ++left;
  }
  for (GraphNode* n : frees_) --blocks[n->as<FreeParams>()->address].second;
  std::map<u32, u64> bytes;
  for (const auto& [address, entry] : blocks) {
    const auto& [block, left] = entry;
    if (block) bytes[block->device()] += block->bytes();
    if (left > 0) US_TRY(memory.start(block));
    if (left < 0) US_TRY(memory.end(address));
  }
  for (const auto& [device, sum] : bytes) memory.map(device, s.id(), sum, last);
  return Error::Success;
}

NodeRef GraphExec::kernel_work(const KernelOp& k, const RunRef& run) {
  const GraphExec* const graph = run ? run->exec() : nullptr;
  const bool known = graph && graph->device_launch();  // to its kernels
  const NodeRef n = k.node(k.launch({.run = run, .graph = known ? reinterpret_cast<u64>(graph) : 0}, k.block));
  n->priority = (flags_ & kUseNodePriority) && k.config.has_priority ? k.config.priority : priority_;
  return n;
}

// What it launches is known when its turn comes.
NodeRef GraphExec::updatable_work(const KernelOp& k, const RunRef& run) {
  const NodeRef n = k.where.context->executor().make(Node::Kind::Deferred);
  n->work = [this, &k, run, raw = n.get()] {
    with_lock(*raw->executor, [this, &k, run, raw] { start_updatable(k, run, NodeRef::share(raw)); });
  };
  return n;
}

// A turn may come on a thread that holds the lock of another executable. If this one's lock is taken, the turn goes to
// a thread that holds none.
void GraphExec::with_lock(Executor& executor, std::function<void()> f) {
  if (const std::unique_lock l(m_, std::try_to_lock); l) return f();
  const NodeRef n = executor.make(Node::Kind::Work);
  n->always = true;
  n->work = [this, f = std::move(f)] {
    const std::lock_guard l(m_);
    f();
  };
  executor.submit(n, {});
}

void GraphExec::start_updatable(const KernelOp& k, const RunRef& run, NodeRef node) {
  Executor& executor = *node->executor;
  KernelOp now = k;
  if (failed(executor.sticky()) || !k.updatable->read(now)) return executor.complete(std::move(node));
  const NodeRef kernel = kernel_work(now, run), end = executor.make(Node::Kind::Work);
  end->small = end->always = true;
  end->work = [&executor, node = std::move(node)]() mutable { executor.complete(std::move(node)); };
  executor.submit(kernel, {});
  executor.submit(end, {&kernel, 1});
}

// What one node of the graph becomes: a node of the executor, which may have to come behind others, too.
class GraphExec::Work {
 public:
  Work(GraphExec& g, const RunRef& run, std::vector<NodeRef>& after)
      : g_(g), executor_(g.where_.context->executor()), run_(run), after_(after) {}

  NodeRef operator()(const KernelOp& k) { return g_.kernel_work(k, run_); }
  NodeRef operator()(const EventRecord& r) {
    r.event->set_captured({});
    return r.node(executor_);
  }
  NodeRef operator()(const EventWait& w) {
    NodeRef recorded;
    NodeRef n = w.node(executor_, recorded);
    if (recorded) after_.push_back(std::move(recorded));
    return n ? n : make_node(executor_, NodeType::WaitEvent);
  }
  NodeRef operator()(ConditionalParams& c) {
    NodeRef n = make_node(executor_, NodeType::Conditional);
    auto turn = std::make_shared<Turn>(g_.shared_from_this(), &c, g_.where_.context, NodeRef());
    n->work = [&g = g_, turn, raw = n.get()] {
      turn->node = NodeRef::share(raw);
      g.with_lock(*raw->executor, [&g, turn] { g.take_turn(turn); });
    };
    return n;
  }
  template <class T>
  NodeRef operator()(const T& op) {
    if constexpr (requires { op.node(executor_); }) {
      NodeRef n = op.node(executor_);
      n->priority = g_.priority_;
      return n;
    } else {
      return executor_.make(Node::Kind::Empty);
    }
  }

  NodeRef of(GraphNode& node) {
    const auto* kernel = node.as<KernelOp>();
    if (kernel && kernel->updatable) return g_.updatable_work(*kernel, run_);
    return node.enabled ? std::visit(*this, node.params) : executor_.make(Node::Kind::Empty);
  }

 private:
  GraphExec& g_;
  Executor& executor_;
  const RunRef& run_;
  std::vector<NodeRef>& after_;
};

SpanRef GraphExec::span_of(const GraphNode& n, const device::Launch* launch) const {
  const Spans spans = all_.runtime().spans();
  if (!spans || !n.enabled) return nullptr;
  trace::Place place = place_;
  place.node = n.original;
  if (const auto* k = n.as<KernelOp>()) return launch ? k->span(spans, place, *launch) : nullptr;
  if (n.as<ConditionalParams>()) return spans.other(place, trace::Work::What::Conditional);
  return std::visit(
      [&](const auto& op) -> SpanRef {
        if constexpr (requires { op.span(spans, place); })
          return op.span(spans, place);
        else
          return nullptr;
      },
      n.params);
}

void GraphExec::tell(Node& n, const GraphNode& node) const {
  const Told told(all_.runtime().registry());
  if (!node.enabled) return;
  std::visit(
      [&](const auto& op) {
        if constexpr (requires { op.told(told); }) n.told = op.told(told);
      },
      node.params);
}

// False: its edge has to be like any other. The kernel may be switched off, or another device's.
bool GraphExec::submit_early(const Step& s, const NodeRef& n, std::span<const NodeRef> after, const NodeRef& primary) {
  const auto kernel = [](const NodeRef& k) { return k->kind == Node::Kind::Kernel; };
  if (!kernel(n) || !kernel(primary) || n->executor != primary->executor) return false;
  const Phase phase = s.early->data.from_port == EdgeData::kProgrammatic ? Phase::Triggered : Phase::Begun;
  n->executor->submit_early(n, after, primary, phase, waits_for_kernel(*s.node) ? primary : NodeRef());
  return true;
}

// Nothing here waits: it may be called by the device's workers.
void GraphExec::submit(const Plan& p, const NodeRef& first, const NodeRef& last, const RunRef& run) {
  std::vector<NodeRef> made(p.steps.size()), after, ends;
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    const Step& s = p.steps[i];
    after.clear();
    for (const u32 a : s.after) after.push_back(made[a]);
    if (s.after.empty()) after.push_back(first);
    made[i] = s.node ? Work(*this, run, after).of(*s.node) : where_.context->executor().make(Node::Kind::Empty);
    made[i]->stream = first->stream;
    if (s.node) made[i]->span = span_of(*s.node, made[i]->launch.get());
    made[i]->tells_begun = s.tells_begun;
    if (s.node && all_.runtime().telling()) [[unlikely]]
      tell(*made[i], *s.node);
    if (!s.early || !submit_early(s, made[i], after, made[s.primary])) {
      if (s.early) after.push_back(made[s.primary]);
      made[i]->executor->submit(made[i], after);
    }
    if (s.last) ends.push_back(made[i]);
  }
  ends.push_back(first);
  last->executor->submit(last, ends);
}

Error GraphExec::launch(Stream& s) {
  const Context* alive = all_.runtime().find_context(where_.context);
  if (!alive || alive->id() != where_.id) return Error::ContextIsDestroyed;
  Context& c = s.context();
  US_TRY(c.sticky());
  std::lock_guard l(m_);
  Executor& executor = c.executor();
  const NodeRef first = executor.make(Node::Kind::Work);
  const NodeRef last = executor.make(runs_ ? Node::Kind::Deferred : Node::Kind::Empty);
  US_TRY(start_memory(s, last));
  first->small = true;
  place_ = place_of(s);
  place_.graph = number_;
  last->span = all_.runtime().spans().graph(place_, plan_.steps.size());
  first->work = [this, span = last->span.get(), conditions = conditions_] {
    if (span) span->begin();
    begin_run();
    for (Condition* k : conditions) k->value().store(k->initial);
  };
  priority_ = s.priority();
  uploaded_ = true;
  c.order().append_span(s, first, last, before_);
  before_ = last;
  if (runs_) {
    launch_run(first, last);
  } else {
    last->work = [self = shared_from_this()] {};
    submit(plan_, first, last, nullptr);
  }
  return Error::Success;
}

void GraphExec::note_conditions() {
  conditions_.clear();
  each_node(*graph_, [this](GraphNode& n) {
    if (const auto* p = n.as<ConditionalParams>(); p && p->condition->reset) conditions_.push_back(p->condition);
  });
}

// `last` is complete when everything is that the kernels launched.
void GraphExec::launch_run(const NodeRef& first, const NodeRef& last) {
  Executor& executor = *last->executor;
  const auto root = std::make_shared<GraphRun>(
      nullptr, nullptr, [&executor, node = NodeRef(last)]() mutable { executor.complete(std::move(node)); });
  last->work = [root] { root->release(); };
  const NodeRef end = submit_run(first, root->part(shared_from_this()));
  executor.submit(last, {&end, 1});
}

void GraphExec::launch_on_device(const RunRef& run) {
  std::lock_guard l(m_);
  Executor& executor = where_.context->executor();
  const NodeRef first = executor.make(Node::Kind::Empty);
  executor.submit(first, {});
  submit_run(first, run);
}

// What comes next starts on a thread of its own: here locks are held, and a chain of launches may be long.
NodeRef GraphExec::submit_run(const NodeRef& first, const RunRef& run) {
  const NodeRef end = first->executor->make(Node::Kind::Work);
  end->always = true;
  end->work = [run] { run->release(); };
  submit(plan_, first, end, run);
  return end;
}

// Everything is in place when the executable exists; the call only has to be legal.
Error GraphExec::upload(Stream& s) {
  US_TRY(s.context().not_captured(s));
  US_TRY(s.context().sticky());
  uploaded_ = true;
  return Error::Success;
}

void GraphExec::take_turn(const std::shared_ptr<Turn>& t) {
  Executor& executor = t->context->executor();
  ConditionalParams& p = *t->params;
  const u32 v = p.condition->value().load();
  std::size_t body = p.bodies.size();  // none
  if (p.type == ConditionalParams::Switch)
    body = std::min<std::size_t>(v, body);
  else if (v != 0)
    body = 0;
  else if (p.type == ConditionalParams::If && p.bodies.size() > 1)
    body = 1;
  const bool over = t->ran && p.type != ConditionalParams::While;
  if (over || body == p.bodies.size() || failed(executor.sticky())) {
    executor.complete(std::move(t->node));
    return;
  }
  t->ran = true;
  const NodeRef first = executor.make(Node::Kind::Empty), last = executor.make(Node::Kind::Deferred);
  last->work = [this, t, raw = last.get()] {
    Executor& e = *raw->executor;
    e.complete(NodeRef::share(raw));
    with_lock(e, [this, t] { take_turn(t); });
  };
  executor.submit(first, {});
  submit(bodies_.at(p.bodies[body].get()), first, last, nullptr);
}

}  // namespace us::driver
