// SPDX-License-Identifier: Apache-2.0
#include "driver/order/executor.h"

#include "device/schedule/outside.h"
#include "driver/order/telling.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace us::driver {
namespace {

constexpr u32 kMaxPending = 16384;  // a program that submits faster than the device runs waits here, as on hardware

Error error_of(device::Outcome o) {
  switch (o) {
    case device::Outcome::Ok:
      return Error::Success;
    case device::Outcome::IllegalAddress:
      return Error::IllegalAddress;
    case device::Outcome::MisalignedAddress:
      return Error::MisalignedAddress;
    case device::Outcome::IllegalInstruction:
      return Error::IllegalInstruction;
    case device::Outcome::InvalidAddressSpace:
      return Error::InvalidAddressSpace;
    case device::Outcome::HardwareStackError:
      return Error::HardwareStackError;
    case device::Outcome::Trap:
      return Error::LaunchFailed;
    case device::Outcome::Assert:
      return Error::Assert;
    case device::Outcome::Deadlock:
      return Error::LaunchTimeout;
    case device::Outcome::NotSupported:
      return Error::NotSupported;
  }
  return Error::Unknown;
}

// Empty if the system has no thread left for us.
template <class F>
std::thread try_thread(F&& f) {
  try {
    return std::thread(std::forward<F>(f));
  } catch (const std::system_error&) {
    return {};
  }
}

// A thread counts as one of these while it does: the device asks who may do something for it.
struct Counted {
  explicit Counted(std::atomic<i32>& of) : n(of) { n.fetch_add(1); }
  ~Counted() { n.fetch_sub(1); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  std::atomic<i32>& n;
};

}  // namespace

// A queue with a few threads that start when there is something for them.
struct Executor::Engine {
  Engine(Executor& e, u32 threads) : executor(e), limit(threads) {}
  ~Engine() {
    {
      std::lock_guard l(m);
      stop = true;
    }
    cv.notify_all();
    for (auto& t : threads) t.join();
  }

  // false: there is no thread for it, and none can be started.
  bool push(Node* n) {
    std::lock_guard l(m);
    if (idle == 0 && threads.size() < limit) {
      std::thread t = try_thread([this] { loop(); });
      if (t.joinable()) threads.push_back(std::move(t));
    }
    if (threads.empty()) return false;
    executor.gpu().host().working.fetch_add(1);
    const auto at =
        std::upper_bound(queue.begin(), queue.end(), n, [](Node* a, Node* b) { return a->priority < b->priority; });
    queue.insert(at, n);
    cv.notify_one();  // under the lock: once the node has run, the context may go, and this queue with it
    return true;
  }

  void loop() {
    device::name_thread();
    std::unique_lock l(m);
    while (true) {
      ++idle;
      cv.wait(l, [&] { return stop || !queue.empty(); });
      --idle;
      if (queue.empty()) return;
      Node* n = queue.front();
      queue.pop_front();
      l.unlock();
      if (n->span) n->span->begin();
      n->work();
      device::Gpu& gpu = executor.gpu();  // of the device; the executor may end with its last node
      std::vector<Node*> ready;
      executor.ended(n, ready);
      for (Node* r : ready) r->executor->start(r);
      gpu.host().working.fetch_sub(1);
      l.lock();
    }
  }

  Executor& executor;
  const u32 limit;
  std::mutex m;  // guards queue, idle and stop
  std::condition_variable cv;
  std::deque<Node*> queue;
  std::vector<std::thread> threads;
  u32 idle = 0;
  bool stop = false;
};

// One thread for all nodes that wait for something outside the work graph.
struct Executor::Watch {
  explicit Watch(Executor& e) : executor(e) {}
  ~Watch() {
    {
      std::lock_guard l(m);
      stop = true;
    }
    cv.notify_all();
    if (thread.joinable()) thread.join();
  }

  bool push(Node* n) {  // false: as above
    std::lock_guard l(m);
    if (!thread.joinable()) thread = try_thread([this] { loop(); });
    if (!thread.joinable()) return false;
    fresh.push_back(n);
    cv.notify_one();
    return true;
  }

  // Everything that came true is over; `waiting` keeps the rest. When the context is broken nothing is waited for.
  bool look(std::vector<Node*>& waiting) {
    std::vector<Node*> over, ready;
    std::erase_if(waiting, [&](Node* n) {
      const bool done = failed(executor.sticky()) || n->until();
      if (done) over.push_back(n);
      return done;
    });
    for (Node* n : over) executor.finish(n, ready);
    for (Node* r : ready) r->executor->start(r);
    return !over.empty();
  }

  void loop() {
    using Pause = std::chrono::microseconds;
    constexpr Pause kShortest{1}, kLongest{1000};
    device::name_thread();
    Pause pause = kShortest;
    std::vector<Node*> waiting;
    std::unique_lock l(m);
    while (true) {
      if (waiting.empty())
        cv.wait(l, [&] { return stop || !fresh.empty(); });
      else
        cv.wait_for(l, pause, [&] { return !fresh.empty(); });
      if (waiting.empty() && fresh.empty()) return;
      pause = fresh.empty() ? std::min(pause * 2, kLongest) : kShortest;
      waiting.insert(waiting.end(), fresh.begin(), fresh.end());
      fresh.clear();
      l.unlock();
      if (look(waiting)) pause = kShortest;
      l.lock();
    }
  }

  Executor& executor;
  std::mutex m;  // guards fresh and stop
  std::condition_variable cv;
  std::vector<Node*> fresh;
  std::thread thread;
  bool stop = false;
};

struct Executor::Impl {
  Impl(Executor& e, device::Gpu& g) : gpu(g), copies(e, g.deterministic() ? 1 : 2), hosts(e, 1), watch(e) {}
  device::Gpu& gpu;
  std::mutex m;                              // successors and completion of nodes, pool
  std::vector<std::unique_ptr<Node>> nodes;  // every node ever made
  Node* free = nullptr;
  std::atomic<u32> pending{0};  // submitted, not complete
  std::function<void(const device::Fault&)> fault;
  Engine copies, hosts;
  Watch watch;
};

Executor::Executor(device::Gpu& g, Telling* t) : impl_(std::make_unique<Impl>(*this, g)), telling_(t) {}
// Who still holds a node, an event of a graph say, finds it complete, and takes it along.
Executor::~Executor() {
  wait_idle();
  for (auto& n : impl_->nodes)
    if (n->refs.load(std::memory_order_acquire) != 0) n.release()->executor = nullptr;
}

device::Gpu& Executor::gpu() { return impl_->gpu; }

void Executor::on_fault(std::function<void(const device::Fault&)> f) { impl_->fault = std::move(f); }

NodeRef Executor::make(Node::Kind kind) {
  std::lock_guard l(impl_->m);
  Node* n = impl_->free;
  if (n) {
    impl_->free = n->next_free;
  } else {
    n = impl_->nodes.emplace_back(std::make_unique<Node>()).get();
    n->executor = this;
  }
  n->kind = kind;
  n->id = telling_ ? telling_->next_node() : 0;
  n->in_stream = false;
  n->stream = 0;
  n->small = n->timed = n->always = false;
  n->priority = 0;
  n->end_ns = 0;
  n->refs.store(1, std::memory_order_relaxed);
  n->waiting.store(1, std::memory_order_relaxed);
  n->closing.store(1, std::memory_order_relaxed);
  n->tells_begun = false;
  for (Node::Early& e : n->early) e.reached = false;
  n->state.store(0, std::memory_order_relaxed);
  return NodeRef(n);
}

void Executor::release(Node* n) {
  if (n->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  n->launch.reset();
  n->work = nullptr;
  n->until = nullptr;
  n->span.reset();
  n->told.reset();
  n->predecessors_done = nullptr;
  n->successors.clear();
  if (!n->executor) return delete n;
  Impl& impl = *n->executor->impl_;
  std::lock_guard l(impl.m);
  n->next_free = impl.free;
  impl.free = n;
}

void Executor::throttle() {
  const Counted waits(impl_->gpu.host().waiting);
  for (u32 p = impl_->pending.load(); p >= kMaxPending; p = impl_->pending.load()) impl_->pending.wait(p);
}

void Executor::add_predecessors(Node* n, std::span<const NodeRef> after) {
  n->refs.fetch_add(1, std::memory_order_relaxed);  // until complete
  impl_->pending.fetch_add(1, std::memory_order_relaxed);
  for (const NodeRef& p : after) {
    if (!p.pending()) continue;
    std::lock_guard l(p->executor->impl_->m);
    if (p->complete()) continue;
    n->waiting.fetch_add(1, std::memory_order_relaxed);
    p->successors.push_back(n);
  }
}

void Executor::submit(const NodeRef& node, std::span<const NodeRef> after) {
  Node* n = node.get();
  if (telling_) [[unlikely]]
    telling_->submitted(*n, after);
  add_predecessors(n, after);
  if (n->waiting.fetch_sub(1, std::memory_order_acq_rel) == 1) start(n);
}

// What waits for a kernel to begin is behind all before that kernel, but not behind it.
void Executor::tell_early(const NodeRef& n, std::span<const NodeRef> after, const NodeRef& primary, Phase phase,
                          const NodeRef& last) {
  telling_->submitted(*n, after, last ? last : phase == Phase::Triggered ? primary : NodeRef());
}

void Executor::submit_early(const NodeRef& node, std::span<const NodeRef> after, const NodeRef& primary, Phase phase,
                            const NodeRef& last) {
  Node* n = node.get();
  if (telling_) [[unlikely]]
    tell_early(node, after, primary, phase, last);
  add_predecessors(n, after);
  {
    std::lock_guard l(impl_->m);  // both are this executor's
    if (last.pending()) {
      n->predecessors_done = std::make_shared<std::atomic<bool>>(false);
      n->launch->predecessors_done = n->predecessors_done;
      n->closing.fetch_add(1, std::memory_order_relaxed);
      last->overlapping.push_back(n);
    }
    Node::Early& early = primary->early[static_cast<u32>(phase)];
    if (primary.pending() && !early.reached) {
      n->waiting.fetch_add(1, std::memory_order_relaxed);
      early.nodes.push_back(n);
    }
  }
  if (n->waiting.fetch_sub(1, std::memory_order_acq_rel) == 1) start(n);
}

// Iterative: a chain of a thousand event records must not be a thousand stack frames.
void Executor::start(Node* first) {
  if (!start_one(first)) return;
  std::vector<Node*> ready;
  ended(first, ready);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    Node* n = ready[i];
    if (n->executor->start_one(n)) n->executor->ended(n, ready);
  }
}

bool Executor::no_thread() {
  Error none = Error::Success;
  const bool first = sticky_.compare_exchange_strong(none, Error::OperatingSystem);
  constexpr const char* kWhy =
      "the operating system starts no more threads, and the virtual GPU needs one (see `ulimit -u`)";
  if (first && impl_->fault) impl_->fault({device::Outcome::Trap, kWhy});
  return true;
}

void Executor::note_start(Node* n, bool dropped) {
  if (dropped) return n->span.reset();
  if (n->kind != Node::Kind::Empty) n->span->begin();
  if (n->kind == Node::Kind::Kernel) n->launch->started = [s = n->span.get()] { s->begin(); };
}

bool Executor::start_one(Node* n) {
  const bool dropped = failed(sticky()) && !n->always;
  if (n->span) [[unlikely]]
    note_start(n, dropped);
  switch (n->kind) {
    case Node::Kind::Empty:
      return true;
    case Node::Kind::Kernel:
      if (dropped || (impl_->gpu.workers() == 0 && no_thread())) return true;
      if (n->launch->code && n->launch->code->triggers) n->launch->triggered = reaches(n, Phase::Triggered);
      if (n->tells_begun) n->launch->begun = reaches(n, Phase::Begun);
      n->launch->done = [this, n](const device::Fault& f) { kernel_done(n, f); };
      impl_->gpu.submit(std::move(n->launch));
      return false;
    case Node::Kind::Work:
      if (dropped) return true;
      if (!n->small && impl_->copies.push(n)) return false;
      n->work();
      return true;
    case Node::Kind::Host:
      if (dropped) return true;
      if (telling_) telling_->begins(*n);
      if (impl_->hosts.push(n)) return false;
      n->work();
      return true;
    case Node::Kind::Deferred: {
      const auto work = std::move(n->work);  // the node may be complete, and used again, before it returns
      work();
      return false;
    }
    case Node::Kind::Poll:
      if (dropped) return true;
      return !impl_->watch.push(n) && no_thread();
    case Node::Kind::Caller:
      n->state.store(1);  // visible before notify_all looks for waiters
      n->state.notify_all();
      return false;
  }
  US_UNREACHABLE();
}

void Executor::kernel_done(Node* n, const device::Fault& f) {
  if (f.outcome != device::Outcome::Ok) {
    Error none = Error::Success;
    sticky_.compare_exchange_strong(none, error_of(f.outcome));
    if (n->span) n->span->work().failed = true;
    if (impl_->fault) impl_->fault(f);
  }
  std::vector<Node*> ready;
  ended(n, ready);
  for (Node* r : ready) r->executor->start(r);
}

// The executor may end with its last node: the caller's reference goes first.
void Executor::complete(NodeRef n) {
  std::vector<Node*> ready;
  Node* node = n.get();
  n = NodeRef();
  ended(node, ready);
  for (Node* r : ready) r->executor->start(r);
}

void Executor::reach(Node* n, Phase p, std::vector<Node*>& ready) {
  std::lock_guard l(impl_->m);
  Node::Early& early = n->early[static_cast<u32>(p)];
  early.reached = true;
  for (Node* s : early.nodes)
    if (s->waiting.fetch_sub(1, std::memory_order_acq_rel) == 1) ready.push_back(s);
  early.nodes.clear();
}

std::function<void()> Executor::reaches(Node* n, Phase p) {
  return [this, n, p] {
    std::vector<Node*> ready;
    reach(n, p, ready);
    for (Node* r : ready) r->executor->start(r);
  };
}

void Executor::ended(Node* n, std::vector<Node*>& ready) {
  if (n->closing.load(std::memory_order_acquire) != 1)  // it will be complete later
    for (const Phase p : {Phase::Triggered, Phase::Begun}) reach(n, p, ready);
  if (n->closing.fetch_sub(1, std::memory_order_acq_rel) == 1) finish(n, ready);
}

// Kernels that overlap it and have ended are complete, too, and so on.
void Executor::finish(Node* first, std::vector<Node*>& ready) {
  std::vector<Node*> next;
  finish_one(first, ready, next);
  for (std::size_t k = 0; k < next.size(); ++k) finish_one(next[k], ready, next);
}

void Executor::finish_one(Node* n, std::vector<Node*>& ready, std::vector<Node*>& complete) {
  if (n->timed) n->end_ns = trace::now_ns();
  if (n->span) [[unlikely]]
    n->span->end();
  if (telling_) [[unlikely]]
    telling_->complete(*n);
  const std::size_t before = ready.size();
  std::vector<Node*> overlapping;
  {
    std::lock_guard l(impl_->m);
    n->state.store(2, std::memory_order_release);
    for (const auto* list : {&n->successors, &n->early[0].nodes, &n->early[1].nodes})
      for (Node* s : *list)
        if (s->waiting.fetch_sub(1, std::memory_order_acq_rel) == 1) ready.push_back(s);
    for (Node::Early& e : n->early) {
      e.reached = true;
      e.nodes.clear();
    }
    overlapping.swap(n->overlapping);
  }
  if (impl_->gpu.deterministic()) impl_->gpu.host().changed_ns.store(trace::now_ns(), std::memory_order_release);
  n->state.notify_all();
  if (n->kind == Node::Kind::Empty) n->work = nullptr;  // what was kept until now; it may refer to the node
  if (ready.size() > before + 1)
    std::stable_sort(ready.begin() + static_cast<std::ptrdiff_t>(before), ready.end(),
                     [](Node* a, Node* b) { return a->priority < b->priority; });
  for (Node* o : overlapping) {
    o->predecessors_done->store(true, std::memory_order_release);
    if (o->closing.fetch_sub(1, std::memory_order_acq_rel) == 1) complete.push_back(o);
  }
  release(n);
  std::atomic<u32>& pending = impl_->pending;  // at 0 the executor may go away under us
  const u32 left = pending.fetch_sub(1, std::memory_order_acq_rel) - 1;
  if (left == 0 || left + 1 == kMaxPending) pending.notify_all();
}

std::optional<double> Executor::told_end(const NodeRef& n) {
  Telling* const t = n->executor ? n->executor->telling_ : nullptr;
  return t && n->id ? t->end_of(*n) : std::nullopt;
}

void Executor::known(const NodeRef& n) {
  if (telling_ && n) telling_->waited(*n);
}

void Executor::wait(const NodeRef& n) {
  if (n->state.load(std::memory_order_acquire) == 2) return known(n);
  const Counted waits(impl_->gpu.host().waiting);
  for (u32 s = n->state.load(std::memory_order_acquire); s != 2; s = n->state.load(std::memory_order_acquire))
    n->state.wait(s);
  known(n);
}

void Executor::wait_ready(const NodeRef& n) {
  const Counted waits(impl_->gpu.host().waiting);
  while (n->state.load(std::memory_order_acquire) == 0) n->state.wait(0);
}

bool Executor::busy() const { return impl_->pending.load() != 0; }

void Executor::wait_idle() {
  const Counted waits(impl_->gpu.host().waiting);
  for (u32 p = impl_->pending.load(); p != 0; p = impl_->pending.load()) impl_->pending.wait(p);
}

}  // namespace us::driver
