// SPDX-License-Identifier: Apache-2.0
#include "driver/operation/mem_ops.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <type_traits>

#include "driver/context.h"
#include "driver/order/telling.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

template <class T>
bool holds(T now, T value, u32 how) {
  using Signed = std::make_signed_t<T>;
  switch (how) {
    case 0:
      return static_cast<Signed>(now - value) >= 0;
    case 1:
      return now == value;
    case 2:
      return (now & value) != 0;
    default:
      return static_cast<T>(~(now | value)) != 0;
  }
}

template <class T>
std::atomic_ref<T> at(u64 address) {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(address));
}

// Is it true now? `seen`: of what value.
bool holds(const MemOp& op, u64& seen) {
  if (op.wide) return holds<u64>(seen = at<u64>(op.address).load(std::memory_order_acquire), op.value, op.how);
  const u32 word = at<u32>(op.address).load(std::memory_order_acquire);
  seen = word;
  return holds<u32>(word, static_cast<u32>(op.value), op.how);
}

void write(const MemOp& op) {
  if (op.wide)
    at<u64>(op.address).store(op.value, std::memory_order_release);
  else
    at<u32>(op.address).store(static_cast<u32>(op.value), std::memory_order_release);
}

// Operations of a node, one after the other.
class InTurn {
 public:
  InTurn(std::vector<MemOp> list, const Node& n, Telling* t) : list_(std::move(list)), node_(&n), telling_(t) {}
  bool operator()() {  // each call goes on; true when all are done
    for (; at_ < list_.size(); ++at_) {
      const MemOp& op = list_[at_];
      u64 value = op.value;
      if (op.kind == MemOp::Wait && !holds(op, value)) return false;
      if (telling_ && op.kind != MemOp::Barrier) tell(op, value);
      if (op.kind == MemOp::Write) write(op);
    }
    if (telling_ && !heard_.empty()) telling_->values(probe::Work::Kind::Hears, *node_, std::move(heard_));
    return true;
  }

 private:
  void tell(const MemOp& op, u64 value) {
    if (op.kind == MemOp::Wait)
      heard_.push_back({op.address, value});
    else
      telling_->values(probe::Work::Kind::Tells, *node_, {{op.address, op.wide ? value : static_cast<u32>(value)}});
  }

  std::vector<MemOp> list_;
  std::size_t at_ = 0;
  const Node* node_;  // it holds this
  Telling* telling_;  // null: nobody observes the process
  std::vector<probe::Work::Value> heard_;
};

}  // namespace

Error MemOps::check(Context& c) {
  where = {&c, c.id()};
  return Error::Success;
}

NodeRef MemOps::node(Executor& e) const {
  const bool waits = std::ranges::any_of(list, [](const MemOp& op) { return op.kind == MemOp::Wait; });
  NodeRef n = waits ? make_node(e, kType) : e.make(Node::Kind::Work);
  InTurn operations(list, *n, where.context ? where.context->runtime().telling() : nullptr);
  if (waits) {
    n->until = std::move(operations);
    return n;
  }
  n->small = true;
  n->work = [f = std::move(operations)]() mutable { f(); };
  return n;
}

}  // namespace us::driver
