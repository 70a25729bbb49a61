// SPDX-License-Identifier: Apache-2.0
// The order of launches and other work, as the host made it.
#pragma once
#include "base/types.h"

namespace us::sanitizer {

class LaunchOrder {
 public:
  virtual ~LaunchOrder() = default;
  // Does all of launch `a` happen before launch `b`? `waited`: asked by a thread of b behind griddepcontrol.wait.
  virtual bool before(u64 a, u64 b, bool waited) const = 0;
  // Is a node of the work graph over when a launch begins?
  virtual bool node_before(u64 /*node*/, u64 /*launch*/) const { return true; }
  // Does a node of the work graph begin when a launch is over?
  virtual bool launch_before(u64 /*launch*/, u64 /*node*/) const { return false; }
};

// Launches in the order in which they are made; nobody overlaps.
class OneAfterAnother final : public LaunchOrder {
 public:
  bool before(u64 a, u64 b, bool) const override { return a < b; }
};

}  // namespace us::sanitizer
