// SPDX-License-Identifier: Apache-2.0
// Which CUDA runtime of the process a call was meant for: a library with the static runtime inside has one of its own,
// and each has a last error (last_error.h). All their calls come to the functions of libcudart.so.13 or .12, which have
// two ways in:
//
//     name:       mov $13, %r10d              what was linked with libcudart.so.13
//     name + 16:  mov %r10d, %fs:offset       jumps from elsewhere: %r10d says from which runtime
//                 jmp *slot
//
// The offset is that of calling_runtime (last_error.cpp) in a thread's data. It is the word behind the functions in the
// table that slots are filled from; zero until then.
#pragma once
#include "base/types.h"
#include "cuda/slots.h"

namespace us::cuda {

inline constexpr u32 kSecondWayIn = 16;  // bytes behind the first
// The shared ones are 12 and 13. python/site numbers those of cuda.bindings from 1, the loader all others from here.
inline constexpr u32 kFirstStaticRuntime = 16;

}  // namespace us::cuda

// To be used before US_RUNTIME_ENTRY: the slots, and the offset.
#define US_RUNTIME_SLOTS                                                     \
  US_SLOT_ARRAY(us_slot);                                                    \
  extern "C" {                                                               \
  __attribute__((visibility("hidden"), used)) us::i64 us_runtime_offset = 0; \
  }                                                                          \
  static_assert(true)
#define US_RUNTIME_ENTRY(name, runtime)                                                                              \
  asm(".pushsection .us_slots,\"aw\",@progbits\nus_slot_" name ": .quad us_unfilled_" name                           \
      "\n.popsection\n.pushsection .text\n.balign 16\n.globl " name "\n.type " name ",@function\n" name              \
      ": endbr64\n movl $" runtime                                                                                   \
      ", %r10d\n.balign 16\n endbr64\n movq us_runtime_offset(%rip), %r11\n"                                         \
      " testq %r11, %r11\n je us_unfilled_" name "\n movl %r10d, %fs:(%r11)\n jmp *us_slot_" name                    \
      "(%rip)\nus_unfilled_" name ": leaq us_slot_" name "(%rip), %r11\n jmp us_slot_first\n.size " name ", .-" name \
      "\n.popsection")
// `fill` fills the slots, then the offset.
#define US_RUNTIME_FILL(fill) \
  US_LAZY_FILL_AND("us_slot", fill, " movq us_runtime_offset(%rip), %rax\n movl %r10d, %fs:(%rax)\n")
