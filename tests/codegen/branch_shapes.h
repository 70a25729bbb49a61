// SPDX-License-Identifier: Apache-2.0
// Kernels of many branches, by the shape of these, and what it takes to compile one.
#pragma once
#include <functional>
#include <ostream>
#include <span>
#include <string>

#include "base/types.h"

namespace us::codegen {

struct Shape {
  const char* name;
  std::string (*body)(u32 branches);
};
inline void PrintTo(const Shape& s, std::ostream* out) { *out << s.name; }
std::span<const Shape> branch_shapes();

// Processor time; negative where the kernel does not compile, with the reason on stdout.
double seconds_to_compile(const Shape&, u32 branches);

}  // namespace us::codegen
