// SPDX-License-Identifier: Apache-2.0
// How the launches of a process are ordered, as far as streams, events, graphs and waiting threads say.
#pragma once
#include "base/types.h"

namespace us::sanitizer {

class Order {
 public:
  virtual ~Order() = default;
  // The launch `before` is over, and what it wrote is visible, when `after` begins. Both are LaunchInfo::id.
  virtual bool ordered(u64 before, u64 after) const { return before < after; }
};

}  // namespace us::sanitizer
