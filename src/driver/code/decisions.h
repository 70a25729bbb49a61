// SPDX-License-Identifier: Apache-2.0
// What is certain to depend on an instruction's answer, for the lanes that execute it: followed forwards while all of
// them go the same way, through instructions that cannot lose it. Silent where that is not certain.
#pragma once
#include "ir/ir.h"

namespace us::driver {

// What becomes of element `element` of the instruction's answer.
struct Consequence {
  u32 decides = ir::kNoSite;  // the branch, the access by its address or the atomic that it decides first
  // Before that: stores of what it decides, and their elements. kNoSite: it may be used for more than copies.
  std::vector<std::pair<u32, u32>> stored;
};
Consequence consequence_of(const ir::Function&, const ir::Inst&, u32 element);

// Where the answer of a shuffle, or of a load of one register, comes to, for the lanes that execute what stands there,
// whichever way they went.
struct Carried {
  std::vector<std::pair<u32, u32>> stored;  // stores and atomics of what it decides, and their elements
  std::vector<u32> shuffled;                // shuffles of it
};
Carried carried_by(const ir::Function&, const ir::Inst&);

// Where the answer of an activemask names those who are meant: the membermask of a bar.warp.sync, or of a shuffle whose
// source does not come from the mask; or kNoSite. (Lanes that ask whoever is there, and choose among them, may.)
u32 taken_for_members(const ir::Function&, const ir::Inst&);

// A return that is a block of its own stands where the compiler has put it: the branch that goes there, if there is
// just one, says where the program leaves. Else the return's own site.
u32 left_by(const ir::Function&, const ir::Terminator&);

}  // namespace us::driver
