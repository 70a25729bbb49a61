// SPDX-License-Identifier: Apache-2.0
// What compiling kernels took of a process's time: worth telling when it ends, if that was more than a second.
#pragma once
#include <chrono>
#include <mutex>
#include <string>

#include "base/types.h"

namespace us::driver {

class CompileTimes {
 public:
  using Time = std::chrono::nanoseconds;
  void add(const std::string& kernel, Time);
  // A sentence; empty: nothing worth telling. `kept`: in the object cache, for the next run.
  std::string text(bool kept) const;

 private:
  mutable std::mutex m_;  // guards the rest
  Time all_{}, longest_{};
  u32 times_ = 0;
  std::string longest_kernel_;
};

}  // namespace us::driver
