// SPDX-License-Identifier: Apache-2.0
// Launches, streams and events of a grid. The other calls: device_calls.cpp.
#include "driver/device_grid.h"

#include "driver/device.h"
#include "driver/runtime.h"
#include "probe/observer.h"

namespace us::driver {
namespace {

constexpr u32 kNested = 16;  // grids that complete each other on one stack
constexpr u64 kLegacy = 1, kPerThread = 2, kTail = 3, kFireAndForget = 4;

// Keys of default streams are no handles that a program could have got.
u64 block_key(u64 block) { return u64{1} << 63 | block; }
u64 thread_key(u64 block, u32 thread) { return u64{3} << 62 | block << 10 | thread; }

}  // namespace

std::shared_ptr<device::DeviceRuntime> Context::device_runtime(Module& m, u32 depth, std::shared_ptr<GraphRun> run) {
  return std::make_shared<DeviceGrid>(*this, m, depth, std::move(run));
}

DeviceGrid::DeviceGrid(Context& c, Module& m, u32 depth, std::shared_ptr<GraphRun> run)
    : context_(c), module_(m), depth_(depth), run_(std::move(run)) {}

void DeviceGrid::grid_ended(const device::Fault& f, std::function<void(const device::Fault&)> done) {
  {
    std::lock_guard l(m_);
    fault_ = f;
    done_ = std::move(done);
  }
  release();
}

// Nodes are let go of before the grid is complete: the executor may end with the last of them.
void DeviceGrid::release() {
  std::pair<NodeRef, NodeRef> next;
  {
    std::lock_guard l(m_);
    if (--open_) return;
    streams_.clear();
    events_.clear();
    prepared_.clear();
    if (!tails_.empty()) {
      next = std::move(tails_.front());
      tails_.pop_front();
      open_ = 1;
    }
  }
  if (next.first) return start(next.first, {&next.second, 1});
  const auto done = std::move(done_);
  if (done) done(fault_);
}

void DeviceGrid::start(const NodeRef& n, std::span<const NodeRef> after) {
  Executor& e = context_.executor();
  const NodeRef end = e.make(Node::Kind::Work);
  end->small = depth_ % kNested != 0;
  end->always = true;
  end->work = [self = shared_from_this()] { self->release(); };
  e.submit(n, after);
  e.submit(end, {&n, 1});
}

// Under the lock, or two launches of one stream could change places; a node that is ready starts outside it.
void DeviceGrid::submit(const Target& p, const NodeRef& n, const NodeRef& also_after) {
  NodeRef after[2] = {{}, also_after};
  {
    std::lock_guard l(m_);
    if (p.order == Order::Tail) {
      tails_.emplace_back(n, also_after);
      return;
    }
    ++open_;
    if (p.order == Order::InStream) after[0] = std::exchange(streams_[p.stream], n);
  }
  start(n, after);
}

Error DeviceGrid::target_of(const Caller& c, u64 stream, Target& out) {
  if (stream == 0) stream = c.own_default_stream ? kPerThread : kLegacy;
  if (stream == kTail) out.order = Order::Tail;
  if (stream == kFireAndForget) out.order = Order::FireAndForget;
  out.stream = stream == kLegacy ? block_key(c.block) : stream == kPerThread ? thread_key(c.block, c.thread) : stream;
  if (stream <= kFireAndForget) return Error::Success;
  std::lock_guard l(m_);
  return streams_.contains(stream) ? Error::Success : Error::InvalidHandle;
}

DeviceGrid::Prepared::~Prepared() {
  if (!buffer) return;
  tell(false);
  heap->free(buffer);
}

void DeviceGrid::Prepared::tell(bool there) const {
  using Memory = probe::Memory;
  if (!observer) return;
  observer->memory({.kind = there ? Memory::Kind::Mapped : Memory::Kind::Unmapped,
                    .owner = Memory::Owner::Variable,
                    .begin = buffer,
                    .bytes = bytes});
}

ParamBlock DeviceGrid::Prepared::params() const {
  ParamBlock block(function->ir().param_bytes, 0);
  std::memcpy(block.data(), reinterpret_cast<const void*>(buffer), std::min<u64>(bytes, block.size()));
  return block;
}

u64 DeviceGrid::keep(std::unique_ptr<Prepared> p, u64 bytes) {
  p->heap = &context_.device().heap();
  p->bytes = std::max<u64>(bytes, 16);
  const u64 at = p->buffer = p->heap->allocate(p->bytes);
  if (!at) return 0;
  p->observer = context_.runtime().settings().observer;
  p->tell(true);
  std::memset(reinterpret_cast<void*>(at), 0, p->bytes);
  std::lock_guard l(m_);
  prepared_[at] = std::move(p);
  return at;
}

LaunchConfig DeviceGrid::config_of(Words w) {
  const auto dim = [&](u32 at) {
    return device::Dim3{static_cast<u32>(w[at]), static_cast<u32>(w[at + 1]), static_cast<u32>(w[at + 2])};
  };
  return {.grid = dim(0), .block = dim(3), .dynamic_shared = w[6]};
}

u64 DeviceGrid::parameter_buffer(const Caller& c, Words w) {
  auto p = std::make_unique<Prepared>();
  p->function = function_at(w[0]);
  if (!p->function) return remember(c, Error::InvalidDeviceFunction), 0;
  p->config = config_of(w.subspan(1));
  const u64 bytes = p->function->ir().param_bytes;
  return keep(std::move(p), bytes);
}

// The older form: the buffer comes first, what it is for with the launch.
Error DeviceGrid::shape(u64 buffer, u64 function, Words w) {
  Function* f = function_at(function);
  if (!f) return Error::InvalidDeviceFunction;
  std::lock_guard l(m_);
  const auto p = prepared_.find(buffer);
  if (p == prepared_.end()) return Error::InvalidValue;
  p->second->function = f;
  p->second->config = config_of(w);
  return Error::Success;
}

Error DeviceGrid::launch(const Caller& c, u64 buffer, u64 stream) {
  std::unique_ptr<Prepared> p;
  {
    std::lock_guard l(m_);
    if (auto found = prepared_.extract(buffer)) p = std::move(found.mapped());
  }
  if (!p || !p->function) return Error::InvalidValue;
  Target target;
  US_TRY(target_of(c, stream, target));
  return launch_in(target, *p);
}

Error DeviceGrid::launch_in(const Target& target, Prepared& p) {
  KernelOp k{.function = p.function, .config = p.config, .where = {&context_, context_.id()}};
  if (const Error e = validate(*p.function, p.config, k.cluster); failed(e))
    return e == Error::InvalidValue ? Error::InvalidConfiguration : e;
  const codegen::Variant variant = k.variant(false);
  const bool ready = p.function->ready_code(variant, k.code);
  std::unique_ptr<device::Launch> launch = k.launch({.depth = depth_ + 1}, p.params());
  const NodeRef compiled = ready ? NodeRef() : compile_node(*p.function, variant, *launch);
  if (compiled && context_.runtime().settings().one_order()) context_.executor().wait(compiled);
  const NodeRef n = k.node(std::move(launch));
  n->span = k.span(context_.runtime().spans(),
                   {.device = context_.device().ordinal(), .context = static_cast<u32>(context_.id())}, *n->launch);
  submit(target, n, compiled);
  return Error::Success;
}

// The compiler needs more stack than a fibre has, and time that a worker has not. A launch that gets no code fails.
NodeRef DeviceGrid::compile_node(Function& f, const codegen::Variant& variant, device::Launch& launch) {
  Executor& e = context_.executor();
  const NodeRef n = e.make(Node::Kind::Work);
  n->work = [this, self = shared_from_this(), &f, variant, &launch] {
    std::shared_ptr<const codegen::Compiled> code;
    std::string log;
    if (failed(f.code(variant, code, log))) return context_.runtime().report(log);
    set_code(launch, std::move(code));
  };
  e.submit(n, {});
  return n;
}

Error DeviceGrid::create(std::unordered_map<u64, NodeRef>& table, u64 out) {
  if (!out) return Error::InvalidValue;
  u64 handle = 0;
  {
    std::lock_guard l(m_);
    handle = next_handle_++;
    table[handle] = {};
  }
  *reinterpret_cast<u64*>(out) = handle;  // may fault, and never come back
  return Error::Success;
}
Error DeviceGrid::create_stream(u64 out, u64 flags) {
  constexpr u64 kNonBlocking = 1;
  return flags == kNonBlocking ? create(streams_, out) : Error::InvalidValue;
}
Error DeviceGrid::create_event(u64 out, u64 flags) {
  constexpr u64 kDisableTiming = 2;
  return flags == kDisableTiming ? create(events_, out) : Error::InvalidValue;
}

Error DeviceGrid::destroy(std::unordered_map<u64, NodeRef>& table, u64 handle) {
  NodeRef last;  // goes outside the lock
  std::lock_guard l(m_);
  const auto found = table.extract(handle);
  if (!found) return Error::InvalidHandle;
  last = found.mapped();
  return Error::Success;
}

Error DeviceGrid::record(const Caller& c, u64 event, u64 stream) {
  Target target;
  US_TRY(target_of(c, stream, target));
  if (target.order != Order::InStream) return Error::InvalidValue;
  std::lock_guard l(m_);
  const auto e = events_.find(event);
  if (e == events_.end()) return Error::InvalidHandle;
  e->second = streams_[target.stream];
  return Error::Success;
}

Error DeviceGrid::wait(const Caller& c, u64 stream, u64 event) {
  Target target;
  NodeRef recorded;
  US_TRY(target_of(c, stream, target));
  if (target.order != Order::InStream) return Error::InvalidValue;
  {
    std::lock_guard l(m_);
    const auto e = events_.find(event);
    if (e == events_.end()) return Error::InvalidHandle;
    recorded = e->second;
  }
  if (recorded.pending()) submit(target, context_.executor().make(Node::Kind::Empty), recorded);
  return Error::Success;
}

}  // namespace us::driver
