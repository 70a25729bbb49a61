// SPDX-License-Identifier: Apache-2.0
// What compiled code does with an access before it calls anybody (codegen/llvm/in_place.cpp), for imagined launches.
#pragma once
#include "probe/quick.h"

namespace us::sanitizer::test {

// Of a whole row (lane l at address + l * bytes), or of lanes at one address. False: to be judged by a call.
bool judged_in_place(const probe::Quick&, u32 lanes, u32 site, probe::QuickAccess, bool same, u64 address);
// Of any lanes: where both halves of the warp are rows.
bool halves_judged_in_place(const probe::Quick&, u32 lanes, u32 site, probe::QuickAccess, const u64* address);

}  // namespace us::sanitizer::test
