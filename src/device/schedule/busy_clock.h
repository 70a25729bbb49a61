// SPDX-License-Identifier: Apache-2.0
// How long at least one kernel was running, whatever their number. The owner sees to it that one thread is in here.
#pragma once
#include "base/types.h"

namespace us::device {

class BusyClock {
 public:
  void begin(u64 now_ns) {
    if (running_++ == 0) since_ = now_ns;
  }
  void end(u64 now_ns) {
    if (--running_ == 0) passed_ += now_ns - since_;
  }
  u64 busy_ns(u64 now_ns) const { return passed_ + (running_ ? now_ns - since_ : 0); }

 private:
  u64 running_ = 0, since_ = 0, passed_ = 0;
};

}  // namespace us::device
