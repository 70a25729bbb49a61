// SPDX-License-Identifier: Apache-2.0
// Runs the work graph of one context: nodes become ready when their predecessors are complete, branches run
// concurrently. Predecessors may belong to other executors (an event of another device).
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "driver/order/node.h"

namespace us::driver {

class Telling;  // telling.h

class Executor {
 public:
  explicit Executor(device::Gpu&, Telling* = nullptr);
  ~Executor();  // waits for everything that was submitted
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  NodeRef make(Node::Kind);  // from a pool
  // The node runs when all of `after` are complete. Nothing that submits waits: workers of the device do so, too.
  void submit(const NodeRef&, std::span<const NodeRef> after);
  // It runs when a kernel has come to a phase. If there is a `last` it is a kernel too, complete only after that:
  // `primary` or what follows it and does not hold a kernel up.
  void submit_early(const NodeRef&, std::span<const NodeRef> after, const NodeRef& primary, Phase, const NodeRef& last);
  void complete(NodeRef);           // by the caller of a Kind::Caller node
  void wait(const NodeRef&);        // until complete
  void wait_ready(const NodeRef&);  // Kind::Caller: until its turn; then work, then complete()
  void wait_idle();
  void known(const NodeRef&);                             // it is complete, and the calling thread saw that
  static std::optional<double> told_end(const NodeRef&);  // by the observer of the process; empty: ask the node
  device::Gpu& gpu();
  // Until there is room for more work. For threads of the program, before others can depend on what they are going to
  // submit: what makes room must not wait for it.
  void throttle();
  bool busy() const;

  Error sticky() const {
    return sticky_.load(std::memory_order_acquire);
  }                                                          // first device fault; work after it is dropped
  void on_fault(std::function<void(const device::Fault&)>);  // called once per faulting kernel, before it completes

  static void release(Node*);

 private:
  struct Engine;
  struct Watch;
  struct Impl;
  void start(Node*);      // and all that becomes ready at once by it
  bool start_one(Node*);  // true: it is complete already
  bool no_thread();       // work cannot be done for want of a thread: the context is broken
  static void note_start(Node*, bool dropped);
  void add_predecessors(Node*, std::span<const NodeRef> after);
  void tell_early(const NodeRef&, std::span<const NodeRef> after, const NodeRef& primary, Phase, const NodeRef& last);
  void reach(Node*, Phase, std::vector<Node*>& ready);
  std::function<void()> reaches(Node*, Phase);
  void ended(Node*, std::vector<Node*>& ready);   // its own work has; complete, if nothing else is missing
  void finish(Node*, std::vector<Node*>& ready);  // complete
  void finish_one(Node*, std::vector<Node*>& ready, std::vector<Node*>& complete);
  void kernel_done(Node*, const device::Fault&);

  std::unique_ptr<Impl> impl_;
  Telling* const telling_;
  std::atomic<Error> sticky_{Error::Success};
};

inline NodeRef::~NodeRef() {
  if (n_) Executor::release(n_);
}

}  // namespace us::driver
