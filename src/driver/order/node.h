// SPDX-License-Identifier: Apache-2.0
// One piece of work in the work graph. Streams, events and graphs are made of nothing else.
//
//   waiting = predecessors not yet complete (+1 while under construction)
//   waiting reaches 0 → the executor starts the node → it ends → complete() → waiting of its successors goes down,
//   who waits for it wakes up
//
// A node may wait for less than a kernel's completion (`early`): that all its blocks have triggered or ended, or have
// begun. A kernel that does (programmatic dependent launch) may wait for the completion itself (`predecessors_done`),
// and is complete only after it (`closing`).
#pragma once
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>

#include "device/gpu.h"
#include "driver/error.h"
#include "probe/observer.h"
#include "trace/recorder.h"

namespace us::driver {

class Executor;

enum class Phase : u8 {
  Triggered,
  Begun,
  Count
};  // of a kernel; each begins when its last block does, or the kernel ends

struct Node {
  enum class Kind : u8 {
    Empty,     // joins; event record and wait
    Kernel,    // given to the device
    Work,      // copy or set: runs on an engine thread, or at once if `small`
    Host,      // host function: runs on the host-function thread
    Caller,    // the API thread that made it runs it (synchronous copies) and completes it
    Deferred,  // its work starts something, which completes it later
    Poll,      // complete when `until` is true: a thread looks, less and less often
  };

  Kind kind = Kind::Empty;
  bool small = false;                      // Work that is cheaper than waking a thread
  bool timed = false;                      // wants `end_ns`
  bool always = false;                     // its work is done even when the context is broken
  int priority = 0;                        // lower is sooner
  std::unique_ptr<device::Launch> launch;  // Kernel
  std::function<void()> work;              // Work, Host, Deferred
  std::function<bool()> until;             // Poll
  std::unique_ptr<trace::Span> span;       // if somebody records: what is written down about it
  u64 id = 0;                              // if somebody observes the process; unique in it
  std::unique_ptr<probe::Work> told;       // the same: what it does
  bool in_stream = false;                  // the same: its predecessors are all that a stream says
  u64 stream = 0;                          // the same: of the program's stream; 0: none

  std::atomic<u32> refs{1};
  std::atomic<u32> waiting{1};
  std::atomic<u32> state{0};    // 0 pending, 1 ready for its caller (Caller), 2 complete
  std::atomic<u32> closing{1};  // 1 while it runs, +1 while the kernel that it overlaps is not complete
  bool tells_begun = false;     // somebody may wait for Phase::Begun: known before it is submitted
  struct Early {                // guarded by the executor, as what follows
    bool reached = false;
    std::vector<Node*> nodes;  // that start then
  };
  Early early[static_cast<u32>(Phase::Count)];
  std::vector<Node*> overlapping;                        // kernels that end after it
  std::shared_ptr<std::atomic<bool>> predecessors_done;  // of an overlapping kernel
  u64 end_ns = 0;                                        // host time when it completed, if timed
  Executor* executor = nullptr;
  std::vector<Node*> successors;  // guarded by the executor
  Node* next_free = nullptr;

  bool complete() const { return state.load(std::memory_order_acquire) == 2; }
};

// Counted reference to a node.
class NodeRef {
 public:
  NodeRef() = default;
  explicit NodeRef(Node* adopted) : n_(adopted) {}
  NodeRef(const NodeRef& o) : n_(o.n_) {
    if (n_) n_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  NodeRef(NodeRef&& o) noexcept : n_(std::exchange(o.n_, nullptr)) {}
  NodeRef& operator=(NodeRef o) noexcept {
    std::swap(n_, o.n_);
    return *this;
  }
  ~NodeRef();
  static NodeRef share(Node* n) {  // one reference more
    n->refs.fetch_add(1, std::memory_order_relaxed);
    return NodeRef(n);
  }
  Node* get() const { return n_; }
  Node* operator->() const { return n_; }
  Node& operator*() const { return *n_; }
  explicit operator bool() const { return n_ != nullptr; }
  bool pending() const { return n_ && !n_->complete(); }
  bool counts() const { return n_ && (n_->id != 0 || !n_->complete()); }  // as a predecessor

 private:
  Node* n_ = nullptr;
};

}  // namespace us::driver
