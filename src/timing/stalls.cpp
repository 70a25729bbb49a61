// SPDX-License-Identifier: Apache-2.0
#include "timing/stalls.h"

#include <iterator>

namespace us::timing {
namespace {

constexpr std::string_view kNames[] = {
    "selected",           "not_selected",   "wait",        "long_scoreboard", "short_scoreboard",
    "math_pipe_throttle", "mio_throttle",   "lg_throttle", "barrier",         "membar",
    "branch_resolving",   "no_instruction", "gmma",        "sleeping",        "dispatch_stall",
};
static_assert(std::size(kNames) == kStalls);

constexpr std::string_view kShortNames[] = {
    "selected", "not_selected",     "wait",    "long_sb", "short_sb", "math",     "mio", "lg", "barrier",
    "membar",   "branch_resolving", "no_inst", "gmma",    "sleeping", "dispatch",
};
static_assert(std::size(kShortNames) == kStalls);

}  // namespace

std::string_view name_of(Stall s) { return kNames[static_cast<u32>(s)]; }
std::string_view short_name_of(Stall s) { return kShortNames[static_cast<u32>(s)]; }

}  // namespace us::timing
