// SPDX-License-Identifier: Apache-2.0
// A function as code generation takes it: in SSA form, with all that is known about it. Nothing changes it any more.
#pragma once
#include "codegen/lower/access_roots.h"
#include "codegen/lower/analysis.h"
#include "codegen/lower/barrier_regions.h"
#include "codegen/lower/settled.h"
#include "codegen/lower/strides.h"

namespace us::codegen {

enum class RunForm : u8 {
  Warp,     // a call runs one warp, which may be switched away where it waits
  Cta,      // a call runs all warps of a CTA: at a barrier it turns to the next warp
  Regions,  // ... which all take the same way from barrier to barrier: a loop over the warps for each region
  Its,      // lanes of a warp wait for each other: a dispatcher runs blocks
};

struct Lowered {
  explicit Lowered(const ir::Function& f) : function(f) {}
  Lowered(Lowered&&) = default;
  Lowered& operator=(Lowered&&) = default;

  bool its() const { return form == RunForm::Its; }
  bool whole_cta() const { return form == RunForm::Cta || form == RunForm::Regions; }

  ir::Function function;
  ir::Cfg cfg;
  Analysis analysis;
  RunForm form = RunForm::Warp;
  BarrierRegions barrier_regions;              // Cta, Regions
  std::map<u32, bool> spins;                   // Its: blocks at the head of loops that wait; true: around a barrier
  std::map<u32, u32> local_shift;              // by SymId: where the .local variables of inlined functions lie
  std::vector<KnownBits> known_bits;           // by ValueId; empty: nothing is known
  std::vector<Reach> reach;                    // the same
  BoundsPlan bounds;                           // points into `function`
  std::map<const ir::Inst*, Settled> settled;  // points into `function`, too
  std::vector<Stride> strides;                 // by ValueId; empty: nothing is known
  bool unheard = false;                        // accesses whose cost is known are counted (probe/unheard.h)
  bool in_place = false;                       // ordinary accesses are judged by code of their own
  bool triggers = false;                       // griddepcontrol.launch_dependents
};

}  // namespace us::codegen
