// SPDX-License-Identifier: Apache-2.0
// Streams and events: who runs after whom.
//
//   legacy default stream:  after its tail and after the tails of all blocking streams
//   blocking stream:        after its tail and after the tail of the legacy stream
//   non-blocking stream:    after its tail
#include <algorithm>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/runtime.h"

namespace us::driver {

Stream& Context::create_stream(bool non_blocking, int priority) {
  std::scoped_lock l(m_, order_);
  auto s = std::make_shared<Stream>(*this, Stream::Kind::User, non_blocking, priority, next_stream_id_++);
  all_streams_.push_back(s.get());
  return *streams_.emplace(s.get(), s).first->second;
}

Stream& Context::per_thread_stream() {
  std::scoped_lock l(m_, order_);
  auto& s = thread_streams_[std::this_thread::get_id()];
  if (!s) {
    s = std::make_shared<Stream>(*this, Stream::Kind::PerThread, false, 0, 2);
    all_streams_.push_back(s.get());
  }
  return *s;
}

std::shared_ptr<Stream> Context::find_stream(const void* handle) {
  std::lock_guard l(m_);
  const auto it = streams_.find(handle);
  return it == streams_.end() ? nullptr : it->second;
}

// Its work goes on; the legacy stream and a synchronisation of the context still wait for it.
Error Context::destroy_stream(const void* handle) {
  US_TRY(sticky());
  const std::shared_ptr<Stream> held = find_stream(handle);
  if (!held) return Error::InvalidHandle;
  runtime().captures().forget(*held);  // takes the lock of all graphs, which comes before those of a context
  std::scoped_lock l(m_, order_);
  const auto it = streams_.find(handle);
  if (it == streams_.end()) return Error::InvalidHandle;
  Stream* s = held.get();
  std::erase_if(orphans_, [](const NodeRef& n) { return !n.pending(); });
  if (s->tail_.pending()) orphans_.push_back(s->tail_);
  std::erase(all_streams_, s);
  streams_.erase(it);
  return Error::Success;
}

void Context::predecessors(Stream& s, const NodeRef& also_after, std::vector<NodeRef>& after) const {
  const auto add = [&](const NodeRef& n) {
    if (n.pending()) after.push_back(n);
  };
  add(s.tail_);
  add(also_after);
  if (&s == &legacy_) {
    for (const Stream* other : all_streams_)
      if (!other->non_blocking_) add(other->tail_);
    for (const NodeRef& n : orphans_) add(n);
  } else if (!s.non_blocking_) {
    add(legacy_.tail_);
  }
}

Error Context::record_all(Event& e, const GreenContext* green) {
  std::vector<NodeRef> tails;
  {
    std::lock_guard l(order_);
    for (const Stream* s : all_streams_)
      if ((!green || s->green_.get() == green) && s->tail_.pending()) tails.push_back(s->tail_);
  }
  for (const NodeRef& n : tails) append(gather_, executor_->make(Node::Kind::Empty), n);
  return record(e, gather_);
}

Error Context::wait_all(Event& e, const GreenContext* green) {
  std::vector<std::shared_ptr<Stream>> all;
  {
    std::lock_guard l(m_);
    for (const auto& [handle, s] : streams_)
      if (!green || s->green_.get() == green) all.push_back(s);
    for (const auto& [thread, s] : thread_streams_)
      if (!green) all.push_back(s);
  }
  if (!green) US_TRY(wait(legacy_, e));
  for (const auto& s : all) US_TRY(wait(*s, e));
  return Error::Success;
}

NodeRef Context::append(Stream& s, const NodeRef& node, const NodeRef& also_after, Place place) {
  std::vector<NodeRef> after;
  after.reserve(4);
  node->priority = s.priority();
  {
    std::lock_guard l(order_);
    predecessors(s, also_after, after);
    s.tail_ = node;
    if (place != Place::Record) s.kernel_ = {};
  }
  executor_->submit(node, after);
  return node;
}

void Context::append_kernel(Stream& s, const NodeRef& node, Place place, std::span<const NodeRef> begun) {
  std::vector<NodeRef> after;
  after.reserve(4);
  node->priority = s.priority();
  node->tells_begun = !begun.empty();
  NodeRef primary, last;
  {
    std::lock_guard l(order_);
    if (place == Place::Overlapping && s.kernel_.pending()) {
      primary = s.kernel_;
      last = std::exchange(s.tail_, {});
    }
    predecessors(s, {}, after);
    s.tail_ = s.kernel_ = node;
  }
  for (const NodeRef& b : begun) {
    std::vector<NodeRef> all = after;
    if (last) all.push_back(last);
    executor_->submit_early(b, all, node, Phase::Begun, {});
  }
  if (primary)
    executor_->submit_early(node, after, primary, Phase::Triggered, last);
  else
    executor_->submit(node, after);
}

void Context::append_span(Stream& s, const NodeRef& first, const NodeRef& last, const NodeRef& also_after) {
  std::vector<NodeRef> after;
  {
    std::lock_guard l(order_);
    predecessors(s, also_after, after);
    s.tail_ = last;
    s.kernel_ = {};
  }
  executor_->submit(first, after);
}

Error Context::synchronize(Stream& s) {
  US_TRY(runtime().captures().synchronize_stream(s));
  NodeRef last;
  if (&s == &legacy_) {
    last = append(s, executor_->make(Node::Kind::Empty));
  } else {
    std::lock_guard l(order_);
    last = s.tail_;
  }
  if (last) executor_->wait(last);
  runtime().pools_synchronized(device_);
  return sticky();
}

Error Context::query(Stream& s) {
  US_TRY(runtime().captures().synchronize_stream(s));
  std::lock_guard l(order_);
  bool busy = s.tail_.pending();
  if (&s == &legacy_)
    for (const Stream* other : all_streams_) busy |= !other->non_blocking_ && other->tail_.pending();
  if (failed(sticky())) return sticky();
  return busy ? Error::NotReady : Error::Success;
}

std::vector<NodeRef> Context::tails() {
  std::vector<NodeRef> all;
  const auto add = [&](const NodeRef& n) {
    if (n.pending()) all.push_back(n);
  };
  std::lock_guard l(order_);
  add(legacy_.tail_);
  for (const Stream* s : all_streams_) add(s->tail_);
  for (const NodeRef& n : orphans_) add(n);
  return all;
}

// A node belongs to no stream; it lets go of its work when it is complete.
void Context::after_all_work(std::shared_ptr<void> last) {
  const std::vector<NodeRef> before = tails();
  if (before.empty()) return;
  const NodeRef n = executor_->make(Node::Kind::Empty);
  n->work = [last = std::move(last)] {};
  executor_->submit(n, before);
}

Error Context::synchronize() {
  US_TRY(runtime().captures().synchronize_context(*this));
  return settle();
}

Error Context::settle() {
  for (const NodeRef& n : tails()) executor_->wait(n);
  runtime().pools_synchronized(device_);
  return sticky();
}

Event& Context::create_event(bool timing, bool blocking_sync, std::shared_ptr<SharedEvent> shared) {
  std::lock_guard l(m_);
  auto e = std::make_shared<Event>(*this, timing, blocking_sync, std::move(shared));
  return *events_.emplace(e.get(), e).first->second;
}

std::shared_ptr<Event> Context::find_event(const void* handle) {
  std::lock_guard l(m_);
  const auto it = events_.find(handle);
  return it == events_.end() ? nullptr : it->second;
}

Error Context::destroy_event(const void* handle) {
  US_TRY(sticky());
  std::lock_guard l(m_);
  return events_.erase(handle) ? Error::Success : Error::InvalidHandle;
}

// In a capture: the event carries the stream's dependencies; `external`: the graph records it when it runs.
Error Context::record(Event& e, Stream& s, bool external) {
  if (&e.context() != this) return Error::InvalidHandle;
  US_TRY(sticky());
  bool captured = false;
  if (external) {
    CapturePoint* at = nullptr;
    US_TRY(admit(s, at));
    return at ? runtime().captures().add(*at, NodeType::RecordEvent, EventParams{e.shared_from_this()})
              : Error::IllegalState;
  }
  US_TRY(runtime().captures().record(e, s, captured));
  if (captured) return Error::Success;
  append(s, record_node(e), {}, Place::Record);
  return Error::Success;
}

NodeRef Context::record_node(Event& e) {
  NodeRef n = executor_->make(e.shared() ? Node::Kind::Work : Node::Kind::Empty);
  n->timed = e.timing();
  if (e.shared()) {
    n->small = n->always = true;
    n->work = [shared = e.shared(), number = e.shared()->record()] { shared->complete(number); };
  }
  e.recorded(n);
  return n;
}

Error Context::record_begun(const LaunchConfig& c, Stream& s, std::vector<NodeRef>& nodes) {
  for (const std::shared_ptr<Event>& e : c.begun) {
    bool captured = false;
    US_TRY(runtime().captures().record(*e, s, captured));
    nodes.push_back(record_node(*e));
  }
  return Error::Success;
}

// The record may be another process's.
void Context::wait_for_others(Stream& s, std::shared_ptr<SharedEvent> shared) {
  const u64 number = shared->recorded();
  if (shared->complete_up_to(number)) return;
  wait_until(s, [shared = std::move(shared), number] { return shared->complete_up_to(number); });
}

void Context::wait_until(Stream& s, std::function<bool()> come_true) {
  NodeRef n = executor_->make(Node::Kind::Poll);
  n->until = std::move(come_true);
  append(s, n);
}

Error Context::admit(Stream& s, CapturePoint*& at) { return runtime().captures().admit(s, at); }

Error Context::not_captured(Stream& s) {
  CapturePoint* at = nullptr;
  US_TRY(admit(s, at));
  return at ? runtime().captures().refuse(s, Error::StreamCaptureUnsupported) : Error::Success;
}

Error Context::wait(Stream& s, Event& e, bool external) {
  US_TRY(sticky());
  bool captured = false;
  US_TRY(runtime().captures().wait(s, e, external, captured));
  if (captured) return Error::Success;
  if (external) {
    CapturePoint* at = nullptr;
    US_TRY(admit(s, at));
    return at ? runtime().captures().add(*at, NodeType::WaitEvent, EventParams{e.shared_from_this()})
              : Error::IllegalState;
  }
  const NodeRef recorded = e.node();
  if (e.shared() && !recorded.pending()) {
    wait_for_others(s, e.shared());
    return Error::Success;
  }
  if (recorded.pending()) append(s, executor_->make(Node::Kind::Empty), recorded);
  return Error::Success;
}

}  // namespace us::driver
