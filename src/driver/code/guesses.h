// SPDX-License-Identifier: Apache-2.0
// A plain load in front of a loop of compare-and-swap: what it returns is only what the first round expects to find,
// and makes the new value of. A wrong guess costs a round.
#pragma once
#include "ir/ir.h"

namespace us::driver {

// Does the load's answer go nowhere but to compare-and-swaps of the address that it was loaded from, and into
// comparisons with what those found?
bool only_guesses(const ir::Function&, const ir::Inst& load);

}  // namespace us::driver
