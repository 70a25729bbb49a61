// SPDX-License-Identifier: Apache-2.0
// Instructions for which machine code has a short way, and a subroutine for operands that it does not take: which lanes
// need that (probe::Detour). Nothing is told, and nothing computed, unless records are written. The rules are the tests
// that the compiler puts in front of the short way; what FCHK says is measured (oracle/timing/checks.txt).
#pragma once
#include "codegen/semantics/common.h"

namespace us::codegen {

void tell_detours_of_quotient(Builder&, V x, V y);                // of integers: of 64 bits, unless both fit in 32
void tell_detours_of_quotient(Builder&, FT, V x, V y, V result);  // f32, f64
void tell_detours_of_reciprocal(Builder&, FT, V x);
void tell_detours_of_root(Builder&, FT, V x);
void tell_detours_of_reciprocal_root(Builder&, V x);  // f64

}  // namespace us::codegen
