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

// Of a load of several words by each lane; 0: it is none.
u32 vector_bytes(const Program::Statement&);
// Where an access goes: "R2.64" and 12 of [R2.64+0xc].
struct Place {
  std::string_view base;
  i64 offset = 0;
};
Place place_of(const Instruction&);

}  // namespace us::sass
