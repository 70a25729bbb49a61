// SPDX-License-Identifier: Apache-2.0
// What machine code for a device (a cubin) says about its kernels.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace us::sass {

struct KernelFacts {
  std::string name;
  u32 registers = 0;     // per thread
  u32 frame_bytes = 0;   // of the kernel itself
  u32 stack_bytes = 0;   // with all it calls; the frame alone where that is not known (recursion, calls by pointer)
  u32 shared_bytes = 0;  // static, without what the system reserves in each block
  u32 max_threads = 0;   // product of the launch bound; 0: none
  bool operator==(const KernelFacts&) const = default;
};

struct Cubin {
  u32 sm = 0;              // 90
  u32 ptx_sm = 0;          // of the PTX it was made from
  bool linked = true;      // not an object that waits for a linker
  u64 constant_bytes = 0;  // of the program's constant variables
  std::vector<KernelFacts> kernels;
  const KernelFacts* find(std::string_view name) const;
};

Result<Cubin> read_cubin(std::span<const u8> elf);

}  // namespace us::sass
