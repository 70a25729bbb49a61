// SPDX-License-Identifier: Apache-2.0
#include "driver/operation/mem_ops.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <type_traits>

#include "driver/context.h"

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

bool holds(const MemOp& op) {  // is it true now?
  if (op.wide) return holds<u64>(at<u64>(op.address).load(std::memory_order_acquire), op.value, op.how);
  return holds<u32>(at<u32>(op.address).load(std::memory_order_acquire), static_cast<u32>(op.value), op.how);
}

void write(const MemOp& op) {
  if (op.wide)
    at<u64>(op.address).store(op.value, std::memory_order_release);
  else
    at<u32>(op.address).store(static_cast<u32>(op.value), std::memory_order_release);
}

// Each call goes on; true when all are done.
std::function<bool()> in_turn(std::vector<MemOp> list) {
  return [list = std::move(list), at = std::size_t(0)]() mutable {
    for (; at < list.size(); ++at) {
      if (list[at].kind == MemOp::Write) write(list[at]);
      if (list[at].kind == MemOp::Wait && !holds(list[at])) return false;
    }
    return true;
  };
}

}  // namespace

Error MemOps::check(Context& c) {
  where = {&c, c.id()};
  return Error::Success;
}

NodeRef MemOps::node(Executor& e) const {
  auto operations = in_turn(list);
  if (std::ranges::none_of(list, [](const MemOp& op) { return op.kind == MemOp::Wait; })) {
    NodeRef n = e.make(Node::Kind::Work);
    n->small = true;
    n->work = [f = std::move(operations)] { f(); };
    return n;
  }
  NodeRef n = make_node(e, kType);
  n->until = std::move(operations);
  return n;
}

}  // namespace us::driver
