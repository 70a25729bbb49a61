// SPDX-License-Identifier: Apache-2.0
// A stream is a tail: new work goes behind it. The legacy default stream also orders itself with all blocking streams.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "driver/order/capture_point.h"
#include "driver/order/executor.h"

namespace us::driver {

class Context;
class GreenContext;

class Stream {
 public:
  enum class Kind : u8 { Legacy, PerThread, User };
  Stream(Context& c, Kind k, bool non_blocking, int priority, u64 id)
      : context_(c), kind_(k), non_blocking_(non_blocking), priority_(priority), id_(id) {}

  Context& context() const { return context_; }
  Kind kind() const { return kind_; }
  bool non_blocking() const { return non_blocking_; }
  int priority() const { return priority_.load(std::memory_order_relaxed); }
  u64 id() const { return id_; }

  // Launch attributes that the program set on the stream, as bytes by their number. False: this one was not.
  void set_attribute(int id, const void* value, u64 bytes);
  bool get_attribute(int id, void* value, u64 bytes) const;
  void copy_attributes(const Stream& from);

  // Of a green context: kernels run on its multiprocessors only. Set before the program knows the stream.
  GreenContext* green() const { return green_.get(); }
  void set_green(std::shared_ptr<GreenContext> g) { green_ = std::move(g); }

  CapturePoint capture;                // while it captures; guarded by Graphs::mutex
  std::vector<GraphNode*> told_nodes;  // of the last one, for a program that still looks at them
  std::vector<EdgeData> told_edges;

 private:
  friend class StreamOrder;  // keeps the tails in order
  Context& context_;
  Kind kind_;
  bool non_blocking_;
  std::shared_ptr<GreenContext> green_;
  std::atomic<int> priority_;
  u64 id_;
  mutable std::mutex m_;  // guards attributes_
  std::atomic<bool> any_attribute_{false};
  std::map<int, std::vector<u8>> attributes_;
  // Guarded by StreamOrder
  NodeRef tail_;
  NodeRef kernel_;  // the tail, or before it with nothing but records of events between
};

}  // namespace us::driver
