// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/run.h"

#include <algorithm>
#include <iterator>

#include "driver/graph/exec.h"

namespace us::driver {

GraphRun::GraphRun(std::shared_ptr<GraphExec> exec, std::shared_ptr<GraphRun> above, std::function<void()> over)
    : exec_(std::move(exec)), above_(std::move(above)), over_(std::move(over)) {}

Error GraphRun::launch(std::shared_ptr<GraphExec> e, Where where) {
  if (!e->device_launch() || !e->uploaded()) return Error::InvalidValue;
  std::unique_lock l(m_);
  if (where == Where::Tail) {
    if (tails_.size() == kMostTails || !e->begin_tail()) return Error::InvalidValue;
    tails_.push_back(std::move(e));
    return Error::Success;
  }
  if (fired_ == kMostFired || !e->begin_run()) return Error::InvalidValue;
  ++fired_;
  l.unlock();
  (where == Where::Sibling ? *above_ : *this).fire(std::move(e));
  return Error::Success;
}

std::shared_ptr<GraphRun> GraphRun::part(std::shared_ptr<GraphExec> e) {
  {
    std::lock_guard l(m_);
    ++open_;
  }
  return std::make_shared<GraphRun>(std::move(e), shared_from_this(), [self = shared_from_this()] { self->release(); });
}

void GraphRun::fire(std::shared_ptr<GraphExec> e) {
  GraphExec& exec = *e;
  exec.launch_on_device(part(std::move(e)));
}

void GraphRun::release() {
  std::shared_ptr<GraphRun> next;
  {
    std::lock_guard l(m_);
    if (--open_) return;
    std::ranges::move(later_, std::back_inserter(tails_));
    if (!tails_.empty()) {
      next = std::make_shared<GraphRun>(std::move(tails_.front()), above_, std::move(over_));
      tails_.pop_front();
      next->later_ = std::move(tails_);
    }
  }
  if (exec_) exec_->end_run();
  if (next) {
    next->exec_->begin_run();
    next->exec_->end_tail();
    next->exec_->launch_on_device(next);
  } else if (const auto over = std::move(over_)) {
    over();
  }
}

}  // namespace us::driver
