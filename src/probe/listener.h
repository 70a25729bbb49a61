// SPDX-License-Identifier: Apache-2.0
// Who listens to a launch. A listener belongs to one launch; the device and compiled code call it, a tool implements
// it. With none, compiled code is the same as if this did not exist.
#pragma once
#include "probe/counts.h"

namespace us::probe {

// What becomes of the events of a launch. Decides which code is compiled, so it is part of codegen's Variant.
enum class Strategy : u8 {
  Nothing,
  Counts,  // numbers beside each instruction (counts.h)
};

class Listener {
 public:
  virtual ~Listener() = default;
  virtual Strategy strategy() const = 0;
  // Of a worker thread, for all CTAs that it runs: indexed by site; stays where it is until the launch has ended.
  virtual Count* counts(u32 worker) = 0;
  virtual void ended() = 0;  // once, before anybody hears that the launch has ended
};

}  // namespace us::probe
