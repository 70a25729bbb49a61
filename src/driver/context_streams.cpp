// SPDX-License-Identifier: Apache-2.0
// Streams and events of a context, and what captures say to each call.
#include "driver/context.h"

#include "driver/device.h"
#include "driver/graph/capture.h"
#include "driver/graph/graph.h"
#include "driver/memory/pools.h"
#include "driver/operation/operation.h"
#include "driver/runtime.h"

namespace us::driver {

Stream& Context::create_stream(bool non_blocking, int priority) {
  std::lock_guard l(m_);
  auto s = std::make_shared<Stream>(*this, Stream::Kind::User, non_blocking, priority, next_stream_id_++);
  order_.add(*s);
  return *streams_.emplace(s.get(), s).first->second;
}

Stream& Context::per_thread_stream() {
  std::lock_guard l(m_);
  auto& s = thread_streams_[std::this_thread::get_id()];
  if (!s) {
    s = std::make_shared<Stream>(*this, Stream::Kind::PerThread, false, 0, 2);
    order_.add(*s);
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
  std::lock_guard l(m_);
  const auto it = streams_.find(handle);
  if (it == streams_.end()) return Error::InvalidHandle;
  order_.remove(*held);
  streams_.erase(it);
  return Error::Success;
}

Error Context::record_all(Event& e, const GreenContext* green) {
  for (const NodeRef& n : order_.tails_of(green)) order_.append(gather_, executor_->make(Node::Kind::Empty), n);
  return record(e, gather_);
}

Error Context::wait_all(Event& e, const GreenContext* green) {
  std::vector<std::shared_ptr<Stream>> all;
  {
    std::lock_guard l(m_);
    for (const auto& [handle, s] : streams_)
      if (!green || s->green() == green) all.push_back(s);
    for (const auto& [thread, s] : thread_streams_)
      if (!green) all.push_back(s);
  }
  if (!green) US_TRY(wait(legacy_, e));
  for (const auto& s : all) US_TRY(wait(*s, e));
  return Error::Success;
}

Error Context::synchronize(Stream& s) {
  US_TRY(runtime().captures().synchronize_stream(s));
  if (const NodeRef last = order_.end_of(s)) executor_->wait(last);
  runtime().pools().synchronized(device_);
  return sticky();
}

Error Context::query(Stream& s) {
  US_TRY(runtime().captures().synchronize_stream(s));
  const bool busy = order_.busy(s);
  US_TRY(sticky());
  if (busy) return Error::NotReady;
  if (const NodeRef last = runtime().telling() ? order_.end_of(s) : NodeRef()) executor_->wait(last);
  return Error::Success;
}

Error Context::synchronize() {
  US_TRY(runtime().captures().synchronize_context(*this));
  return settle();
}

Error Context::settle() {
  for (const NodeRef& n : order_.tails()) executor_->wait(n);
  runtime().pools().synchronized(device_);
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
  Captures& captures = runtime().captures();
  bool captured = false;
  const EventRecord operation{e.shared_from_this()};
  if (external) {
    US_TRY(captures.admit(s, captured));
    if (captured) US_TRY(captures.add(s, operation, captured));
    return captured ? Error::Success : Error::IllegalState;
  }
  US_TRY(captures.record(e, s, captured));
  if (captured) return Error::Success;
  order_.append(s, operation.node(*executor_), {}, StreamOrder::Link::Record);
  return Error::Success;
}

Error Context::wait(Stream& s, Event& e, bool external) {
  US_TRY(sticky());
  Captures& captures = runtime().captures();
  bool captured = false;
  const EventWait operation{e.shared_from_this()};
  US_TRY(captures.wait(s, e, external, captured));
  if (captured) return Error::Success;
  if (external) {
    US_TRY(captures.admit(s, captured));
    if (captured) US_TRY(captures.add(s, operation, captured));
    return captured ? Error::Success : Error::IllegalState;
  }
  NodeRef recorded;
  if (const NodeRef n = operation.node(*executor_, recorded)) order_.append(s, n, recorded);
  return Error::Success;
}

Error Context::not_captured(Stream& s) {
  bool captured = false;
  US_TRY(runtime().captures().admit(s, captured));
  return captured ? runtime().captures().refuse(s, Error::StreamCaptureUnsupported) : Error::Success;
}

}  // namespace us::driver
