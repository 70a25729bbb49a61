// SPDX-License-Identifier: Apache-2.0
// Register form to SSA, and the clean-ups that follow at once (copies, dead code).
#pragma once
#include "ir/cfg.h"

namespace us::ir {

// Pruned SSA by dominance frontiers. Guarded instructions get `merge` operands: the value their destinations keep where
// the guard is false. Needs remove_unreachable() first; the CFG is not changed.
void build_ssa(Function&, const Cfg&);

// Plain unguarded register moves are replaced by their source; phis with one distinct input likewise.
void propagate_copies(Function&);

// Removes pure instructions and phis whose values nobody uses.
void remove_dead(Function&);

}  // namespace us::ir
