// SPDX-License-Identifier: Apache-2.0
// One launch of a graph whose kernels may launch graphs: what belongs to it, and when it is over.
//
//   stream ── host's launch ──▶ root ─┬─ graph's own nodes ─┐
//                                     └─ siblings           ├─ open == 0 → first tail launch → next … → over
//                              graph ─┬─ its nodes          │
//                                     └─ graphs it fired ───┘
//
// A fired graph is part of the run that fired it, a sibling part of the run above that one. Tail launches start one
// after the other when all the rest is over: the next one takes the run's place, and its own tails come before those
// left.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "driver/order/executor.h"

namespace us::driver {

class GraphExec;

class GraphRun : public std::enable_shared_from_this<GraphRun> {
 public:
  enum class Where : u8 { FireAndForget, Sibling, Tail };
  static constexpr u32 kMostFired = 120, kMostTails = 255;

  // `exec` is null for the root of a launch by the host. `over` is called once, maybe by a worker of the device.
  GraphRun(std::shared_ptr<GraphExec> exec, std::shared_ptr<GraphRun> above, std::function<void()> over);

  GraphExec* exec() const { return exec_.get(); }
  Error launch(std::shared_ptr<GraphExec>, Where);  // by a kernel of it
  void fire(std::shared_ptr<GraphExec>);
  std::shared_ptr<GraphRun> part(std::shared_ptr<GraphExec>);  // that this one waits for; the caller starts it
  void release();  // of the one that the run begins with, and of each fired graph

 private:
  const std::shared_ptr<GraphExec> exec_;
  const std::shared_ptr<GraphRun> above_;
  std::function<void()> over_;
  std::mutex m_;  // guards the members below
  u32 open_ = 1, fired_ = 0;
  std::deque<std::shared_ptr<GraphExec>> tails_, later_;  // later_: of those whose place this run took
};

}  // namespace us::driver
