// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "driver/operation/node_type.h"

namespace us::driver {

// Work that touches so many bytes; little of it is done at once, which is cheaper than waking a thread.
inline NodeRef work_node(Executor& e, NodeType t, u64 bytes, std::function<void()> work) {
  constexpr u64 kAtOnce = 16 << 10;
  NodeRef n = make_node(e, t);
  n->small = bytes <= kAtOnce;
  n->work = std::move(work);
  return n;
}

}  // namespace us::driver
