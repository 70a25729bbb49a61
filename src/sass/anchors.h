// SPDX-License-Identifier: Apache-2.0
// The rows of anchors.inc: machine instructions that the compiler keeps for a statement of the PTX.
#pragma once
#include "sass/decode.h"
#include "sass/program.h"

namespace us::sass {

// "LDG" of LDG.E.64.
std::string_view base_name(const Instruction&);
// Whether the instruction does what the statement says, and not a part of its arithmetic.
bool is_anchor(const Instruction&, const Program::Statement&);

// The constant by which an induction statement (add r, r, k) changes its register; 0: it is none.
u64 induction_step(const Program::Statement&);
// The largest constant of an addition that is a multiple of `step`, as a number of steps; 0: none.
u32 steps_of(const Instruction&, u64 step);

}  // namespace us::sass
