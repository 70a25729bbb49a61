// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "base/types.h"

namespace us::timing {

// Why a warp did not issue, by Nsight Compute's names.
enum class Stall : u8 {
  Selected,
  NotSelected,
  Wait,
  LongScoreboard,
  ShortScoreboard,
  MathPipeThrottle,
  MioThrottle,
  LgThrottle,
  Barrier,
  Membar,
  BranchResolving,
  NoInstruction,
  Gmma,
  Sleeping,
  Dispatch,
};
inline constexpr u32 kStalls = 15;
std::string_view name_of(Stall);
std::string_view short_name_of(Stall);  // of columns by instruction: "long_sb"

}  // namespace us::timing
