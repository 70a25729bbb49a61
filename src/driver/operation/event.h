// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "driver/operation/node_type.h"
#include "driver/order/event.h"

namespace us::driver {

struct EventRecord {
  static constexpr NodeType kType = NodeType::RecordEvent;
  std::shared_ptr<Event> event;
  NodeRef node(Executor&) const;  // the event names it from now on
};

struct EventWait {
  static constexpr NodeType kType = NodeType::WaitEvent;
  std::shared_ptr<Event> event;
  NodeRef node(Executor&, NodeRef& after) const;  // null: nothing to wait for; else it runs behind `after`, too
};

}  // namespace us::driver
