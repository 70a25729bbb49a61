// SPDX-License-Identifier: Apache-2.0
// Floating-point operations of a launch, by the machine instructions that it executed.
#pragma once
#include <span>

#include "timing/launch_profile.h"

namespace us::tools {

enum class FlopKind : u8 { Fp64, Fp32, Fp16, Tensor };
struct FlopRow {
  FlopKind kind;
  const char* name;
  double peak;  // a cycle and multiprocessor; Tensor: of 16-bit inputs, dense
};
std::span<const FlopRow> flop_rows();  // by kind

// Of threads that came to the instruction, whatever its guard was; of tensor cores all of the tile.
struct Flops {
  double of[4] = {};
  double operator[](FlopKind k) const { return of[static_cast<int>(k)]; }
};
Flops flops_of(const timing::LaunchProfile&);
double tile_flops(std::string_view name);  // of one warp's matrix instruction ("HMMA.16816.F32"); 0: it is none

}  // namespace us::tools
