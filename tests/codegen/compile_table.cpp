// SPDX-License-Identifier: Apache-2.0
// compile_table [BRANCHES...]: processor seconds to compile kernels of so many branches, a line for each shape of
// these: the table of docs/bench.md.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "branch_shapes.h"

int main(int argc, char** argv) {
  std::vector<us::u32> sizes;
  for (int k = 1; k < argc; ++k) {
    const int n = std::atoi(argv[k]);
    if (n < 1) return fmt::print(stderr, "usage: compile_table [BRANCHES...]\n"), 2;
    sizes.push_back(static_cast<us::u32>(n));
  }
  if (sizes.empty()) sizes = {2'000, 10'000, 50'000};
  fmt::print("{:10}", "shape");
  for (const us::u32 n : sizes) fmt::print(" {:>8}", n);
  fmt::print("\n");
  for (const us::codegen::Shape& shape : us::codegen::branch_shapes()) {
    us::codegen::seconds_to_compile(shape, 10);  // the first one starts LLVM
    fmt::print("{:10}", shape.name);
    for (const us::u32 n : sizes) {
      fmt::print(" {:8.2f}", us::codegen::seconds_to_compile(shape, n));
      std::fflush(stdout);
    }
    fmt::print("\n");
  }
}
