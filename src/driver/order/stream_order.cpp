// SPDX-License-Identifier: Apache-2.0
#include "driver/order/stream_order.h"

#include <algorithm>

namespace us::driver {

void StreamOrder::add(Stream& s) {
  std::lock_guard l(m_);
  streams_.push_back(&s);
}

void StreamOrder::remove(Stream& s) {
  std::lock_guard l(m_);
  std::erase_if(orphans_, [](const NodeRef& n) { return !n.counts(); });
  if (s.tail_.counts()) orphans_.push_back(s.tail_);
  std::erase(streams_, &s);
}

void StreamOrder::predecessors(Stream& s, const NodeRef& also_after, std::vector<NodeRef>& after) const {
  const auto add = [&](const NodeRef& n) {
    if (n.counts()) after.push_back(n);
  };
  add(s.tail_);
  add(also_after);
  if (&s == &legacy_) {
    for (const Stream* other : streams_)
      if (!other->non_blocking_) add(other->tail_);
    for (const NodeRef& n : orphans_) add(n);
  } else if (!s.non_blocking_) {
    add(legacy_.tail_);
  }
}

NodeRef StreamOrder::append(Stream& s, const NodeRef& node, const NodeRef& also_after, Link link) {
  std::vector<NodeRef> after;
  after.reserve(4);
  node->priority = s.priority();
  node->in_stream = true;
  node->stream = s.id();
  {
    std::lock_guard l(m_);
    predecessors(s, also_after, after);
    s.tail_ = node;
    if (link != Link::Record) s.kernel_ = {};
  }
  executor_.submit(node, after);
  return node;
}

void StreamOrder::append_kernel(Stream& s, const NodeRef& node, Link link, std::span<const NodeRef> begun) {
  std::vector<NodeRef> after;
  after.reserve(4);
  node->priority = s.priority();
  node->tells_begun = !begun.empty();
  node->in_stream = true;
  node->stream = s.id();
  NodeRef primary, last;
  {
    std::lock_guard l(m_);
    if (link == Link::Overlapping && s.kernel_.counts()) {
      primary = s.kernel_;
      last = std::exchange(s.tail_, {});
    }
    predecessors(s, {}, after);
    s.tail_ = s.kernel_ = node;
  }
  for (const NodeRef& b : begun) {
    std::vector<NodeRef> all = after;
    if (last) all.push_back(last);
    executor_.submit_early(b, all, node, Phase::Begun, {});
  }
  if (primary)
    executor_.submit_early(node, after, primary, Phase::Triggered, last);
  else
    executor_.submit(node, after);
}

void StreamOrder::append_span(Stream& s, const NodeRef& first, const NodeRef& last, const NodeRef& also_after) {
  std::vector<NodeRef> after;
  first->in_stream = true;
  first->stream = last->stream = s.id();
  {
    std::lock_guard l(m_);
    predecessors(s, also_after, after);
    s.tail_ = last;
    s.kernel_ = {};
  }
  executor_.submit(first, after);
}

Error StreamOrder::run(Stream& s, const NodeRef& n, const std::function<void()>& work) {
  append(s, n);
  executor_.wait_ready(n);
  const Error e = executor_.sticky();
  if (!failed(e)) work();
  executor_.complete(n);
  executor_.known(n);
  return e;
}

NodeRef StreamOrder::end_of(Stream& s) {
  if (&s == &legacy_) return append(s, executor_.make(Node::Kind::Empty));
  std::lock_guard l(m_);
  return s.tail_;
}

bool StreamOrder::busy(Stream& s) const {
  std::lock_guard l(m_);
  bool busy = s.tail_.pending();
  if (&s == &legacy_)
    for (const Stream* other : streams_) busy |= !other->non_blocking_ && other->tail_.pending();
  return busy;
}

std::vector<NodeRef> StreamOrder::tails() const {
  std::vector<NodeRef> all;
  const auto add = [&](const NodeRef& n) {
    if (n.counts()) all.push_back(n);
  };
  std::lock_guard l(m_);
  add(legacy_.tail_);
  for (const Stream* s : streams_) add(s->tail_);
  for (const NodeRef& n : orphans_) add(n);
  return all;
}

std::vector<NodeRef> StreamOrder::tails_of(const GreenContext* green) const {
  std::vector<NodeRef> all;
  std::lock_guard l(m_);
  for (const Stream* s : streams_)
    if ((!green || s->green() == green) && s->tail_.counts()) all.push_back(s->tail_);
  return all;
}

// A node belongs to no stream; it lets go of its work when it is complete.
void StreamOrder::after_all(std::shared_ptr<void> last) {
  const std::vector<NodeRef> before = tails();
  if (before.empty()) return;
  const NodeRef n = executor_.make(Node::Kind::Empty);
  n->work = [last = std::move(last)] {};
  executor_.submit(n, before);
}

}  // namespace us::driver
