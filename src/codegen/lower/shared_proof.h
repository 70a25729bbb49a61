// SPDX-License-Identifier: Apache-2.0
// Accesses to shared memory whose places are known for each thread before the kernel runs (thread_values.h). Where no
// two threads meet in a byte between one barrier and the next, but to read it, there is no race:
//
//   ─ barrier ─ a = s[low(t)], b = s[high(t)]; s[low(t)] = min(a, b); s[high(t)] = max(a, b) ─ barrier ─
//
// And a load of bytes that were certainly written before its barrier needs no look at all.
#pragma once
#include <map>
#include <set>

#include "codegen/code_facts.h"
#include "codegen/lower/barrier_regions.h"

namespace us::codegen {

// An instruction that may touch shared memory.
struct SharedAccess {
  const ir::Inst* inst = nullptr;
  enum class How : u8 { Read, Write, Atomic, Other } how = How::Other;
  ir::SymId variable;  // invalid: any
  u32 bytes = 0;       // of one element
};

struct SharedProof {
  std::set<std::pair<u32, u32>> raceless;  // class of regions, variable
  std::set<u32> closed;                    // variables all of whose accesses are fine, whatever happens
};
// Regions of one class are not ordered. Nothing else than `accesses` (by class) touches shared memory.
SharedProof prove_shared(const ir::Module&, const ir::Function&, const ir::Cfg&, const CodeFacts&,
                         const BarrierRegions&, const std::vector<u32>& classes,
                         const std::map<u32, std::vector<SharedAccess>>& accesses);

}  // namespace us::codegen
