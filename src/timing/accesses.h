// SPDX-License-Identifier: Apache-2.0
// What one access of a warp takes of the memory system: sectors of global memory, wavefronts of shared memory.
#pragma once
#include "probe/records.h"

namespace us::timing {

inline constexpr u32 kSectorBytes = 32, kLineBytes = 128, kBanks = 32, kBankBytes = 4;

// Of global memory.
struct Sectors {
  u32 sectors = 0;  // different ones that the lanes touch
  u32 ideal = 0;    // as many as their bytes need
  u32 lines = 0;    // different lines: look-ups of tags
};
Sectors sectors_of(const probe::Record&);
class Lines;
Sectors sectors_of(const probe::Record&, const Lines&);  // which are the record's

// Of shared memory. A warp's access of 8 bytes takes two passes of half a warp, one of 16 bytes four passes; loads
// whose neighbours ask for the same take half as many. A pass takes as many wavefronts as words of one bank.
struct Wavefronts {
  u32 wavefronts = 0;
  u32 passes = 0;  // what is more than these are conflicts of banks
  u32 ideal = 0;   // as many as the bytes of the lanes need
};
Wavefronts wavefronts_of(const probe::Record&);
u32 most_at_one_address(const probe::Record&);  // lanes

}  // namespace us::timing
