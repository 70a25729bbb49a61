// SPDX-License-Identifier: Apache-2.0
// Which lanes of a warp are together on their ways through the machine code. A branch parts them; they meet where a
// BSYNC waits for those that were together at its BSSY, and at instructions that bring all of them together. Nowhere
// else: those that leave a loop behind which nobody waits go on by themselves.
#pragma once
#include <span>
#include <vector>

#include "sass/map.h"

namespace us::sass {

// Lanes of a warp execute a block of machine code.
struct Visit {
  u32 block = 0, lanes = 0;
  auto operator<=>(const Visit&) const = default;
};
struct LanesOnWay {
  u32 lanes = 0;
  const std::vector<u32>* way = nullptr;
};
std::vector<Visit> converge(const Map&, std::span<const LanesOnWay>);  // ways that differ, at most one for each lane

}  // namespace us::sass
