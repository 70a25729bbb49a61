// SPDX-License-Identifier: Apache-2.0
// An event names the node that its latest record appended.
#pragma once
#include <memory>
#include <mutex>

#include "driver/order/capture_point.h"
#include "driver/order/executor.h"
#include "driver/order/shared_event.h"

namespace us::driver {

class Context;

class Event : public std::enable_shared_from_this<Event> {
 public:
  Event(Context& c, bool timing, bool blocking_sync, std::shared_ptr<SharedEvent> shared = nullptr)
      : context_(c), timing_(timing), blocking_sync_(blocking_sync), shared_(std::move(shared)) {}
  Context& context() const { return context_; }
  bool timing() const { return timing_; }
  bool blocking_sync() const { return blocking_sync_; }
  const std::shared_ptr<SharedEvent>& shared() const { return shared_; }  // of an event of several processes

  void recorded(NodeRef n) {
    std::lock_guard l(m_);
    node_ = std::move(n);
  }
  NodeRef node() const {
    std::lock_guard l(m_);
    return node_;
  }                     // empty: never recorded
  Error query() const;  // Success or NotReady
  Error synchronize() const;
  static Error elapsed_ms(const Event& start, const Event& end, float& ms);

  // Where its latest record was, if that was in a capture; guarded by Graphs::mutex.
  const CapturePoint& captured() const { return captured_; }
  CapturePoint& captured() { return captured_; }
  void set_captured(CapturePoint p) {
    captured_ = std::move(p);
    is_captured_.store(captured_.capture != nullptr, std::memory_order_relaxed);
  }
  bool is_captured() const { return is_captured_.load(std::memory_order_relaxed); }  // without the lock

 private:
  Context& context_;
  bool timing_, blocking_sync_;
  std::shared_ptr<SharedEvent> shared_;
  mutable std::mutex m_;  // guards node_ and captured_
  NodeRef node_;
  CapturePoint captured_;
  std::atomic<bool> is_captured_{false};
};

}  // namespace us::driver
