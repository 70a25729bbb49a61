// SPDX-License-Identifier: Apache-2.0
// Runs the work graph of one context: nodes become ready when their predecessors are complete, branches run concurrently.
#pragma once
#include <memory>
#include <span>

#include "driver/node.h"

namespace us::driver {

class Executor {
 public:
  explicit Executor(device::Gpu&);
  ~Executor();  // waits for everything that was submitted
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  NodeRef make(Node::Kind);                                     // from a pool
  void submit(const NodeRef&, std::span<const NodeRef> after);  // the node runs when all of `after` are complete
  void complete(Node*);                                         // by whoever ran it
  void wait(const NodeRef&);                                    // until complete
  void wait_ready(const NodeRef&);                              // Kind::Caller: until its turn; then work, then complete()
  void wait_idle();

  Error sticky() const { return sticky_.load(std::memory_order_acquire); }  // first device fault; work after it is dropped
  void set_sticky(Error);
  void on_fault(std::function<void(const device::Fault&)>);     // called once per faulting kernel

  static void release(Node*);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::atomic<Error> sticky_{Error::Success};
};

inline NodeRef::~NodeRef() {
  if (n_) Executor::release(n_);
}

}  // namespace us::driver
