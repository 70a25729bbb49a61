// SPDX-License-Identifier: Apache-2.0
// Which sectors of global memory a launch finds in L2: those that it touched before, and that were not displaced since.
// Before the launch L2 is empty, as under Nsight Compute.
#pragma once
#include <vector>

#include "base/types.h"

namespace us::timing {

class Footprint {
 public:
  explicit Footprint(u64 capacity) : most_lines_(capacity / 128) {}
  // Of the sectors of a line (one bit each) those that were not there; now they are.
  u32 touch(u64 line, u32 sectors);
  u64 lines() const { return lines_; }  // that were brought in

 private:
  struct Entry {
    u64 line = ~u64{0};
    u32 sectors = 0;
    u32 since = 0;  // lines_ when it came
  };
  Entry& find(u64 line);
  void grow();
  std::vector<Entry> table_ = std::vector<Entry>(1 << 12);
  u64 used_ = 0;
  const u64 most_lines_;
  u64 lines_ = 0;
};

}  // namespace us::timing
