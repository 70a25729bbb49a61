// SPDX-License-Identifier: Apache-2.0
// From the PTX blocks that lanes came through to the blocks of machine code that they would come through on a device.
//
// A transducer: its state is a block of machine code, a place in the PTX path, and which elements (map.h) of the
// executions behind that place are used up already. A step goes to a successor, which uses up as many executions as it
// may; where the code ends before the path does, or the other way round, it goes back and tries the next best.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "sass/map.h"

namespace us::sass {

class Walker {
 public:
  Walker(const Map& m, u64 most_steps) : map_(m), most_steps_(most_steps) {}
  // Blocks of machine code, in order; nothing: no way was found. `patience`: how many executions may be begun and not
  // complete at a time. The steps of the search that lead nowhere are added to `steps`.
  std::optional<std::vector<u32>> walk(std::span<const u32> ptx_blocks, u32 patience, u64& steps) const;

 private:
  const Map& map_;
  u64 most_steps_;
};

}  // namespace us::sass
