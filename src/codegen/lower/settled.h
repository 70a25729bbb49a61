// SPDX-License-Identifier: Apache-2.0
// Accesses to shared memory that barriers of the whole CTA order with every access they could race with. Barriers cut
// the kernel into regions that all warps come to together (barrier_regions.h): what is in one region only meets what is
// in the same one. There a variable that is only read, or only changed by relaxed atomics of one size, has no race.
//
//   ─ barrier ─ s[index[t]] = x ─ barrier ─ y = s[t + 1] ─ barrier ─       the load is settled, the store is not
//
// Others have none because of where each thread's places are (shared_proof.h). Who judges accesses need not look at
// settled ones, as long as they stay inside of their variable and it has been written. Where even that is certain for
// all accesses to a variable, none is told of.
#pragma once
#include <map>

#include "codegen/code_facts.h"
#include "codegen/lower/barrier_regions.h"
#include "codegen/lower/reach.h"

namespace us::codegen {

struct Settled {
  u32 number = 0;  // of the variable, 1 to kMost; 0: not settled
  ir::SymId variable;
  bool inside = false;  // the address certainly is
  bool closed = false;  // nothing can be wrong with any access to the variable: number is 0
  static constexpr u32 kMost = 64;
};

// By instruction of the function. Its barriers end their blocks; those without a site order nothing.
std::map<const ir::Inst*, Settled> settled_accesses(const ir::Module&, const ir::Function&, const ir::Cfg&,
                                                    const CodeFacts&, const BarrierRegions&, const std::vector<Reach>&);

}  // namespace us::codegen
