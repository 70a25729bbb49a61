// SPDX-License-Identifier: Apache-2.0
// What is certain to depend on an instruction's answer, for the lanes that execute it: followed forwards while all of
// them go the same way, through instructions that cannot lose it. Silent where that is not certain.
#pragma once
#include "ir/ir.h"

namespace us::driver {

// The branch, the access by its address or the atomic that element `element` of the instruction's answer decides, or
// kNoSite. A store of the value decides nothing.
u32 decided_by(const ir::Function&, const ir::Inst&, u32 element);

// Where the answer of an activemask names those who are meant: the membermask of a bar.warp.sync, or of a shuffle whose
// source does not come from the mask; or kNoSite. (Lanes that ask whoever is there, and choose among them, may.)
u32 taken_for_members(const ir::Function&, const ir::Inst&);

// A return that is a block of its own stands where the compiler has put it: the branch that goes there, if there is
// just one, says where the program leaves. Else the return's own site.
u32 left_by(const ir::Function&, const ir::Terminator&);

}  // namespace us::driver
