// SPDX-License-Identifier: Apache-2.0
// Messages about warps: where they are and what they wait for.
#pragma once
#include "device/schedule/resident.h"

namespace us::device {

std::string line_of(Warp&, const void* pc);  // empty if unknown
std::string line_of_call(Warp&);             // of the last runtime call
std::string text_of(const Dim3&);            // "[x,y,z]"
u64 linear_in_grid(const Cta&);
Dim3 thread_of(const Warp&, u32 lane);
// "  kernel K, block [x,y,z], warp W, threads [x,y,z] to [x,y,z]\n  at file.cu:12"
std::string place_of(Warp&, u32 lanes, const std::string& line);

// End the launch from inside a runtime function.
[[noreturn]] void die(Warp&, Outcome, std::string&& what, u32 lanes, probe::Refused = probe::Refused::Other);
[[noreturn]] void die_at(Warp&, Outcome, std::string&& what, u32 lanes, std::string&& line, probe::Refused);
// Of lanes at the instruction that runs.
probe::Fault fault_of(const Warp&, u32 lanes, probe::Refused);

}  // namespace us::device
