// SPDX-License-Identifier: Apache-2.0
// All of libcudart.so.13: per symbol one slot and one jump through it. The slots are filled from libcuda.so.1 at load.
// Slots stand in the order of the rows, in their own section, so they form one array.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda/entry_table.h"

asm(".pushsection .us_slots,\"aw\",@progbits\n.balign 8\nus_slots:\n.popsection");
#define US_ENTRY(name, level, note)                                                           \
  asm(".pushsection .us_slots,\"aw\",@progbits\n"                                             \
      "us_slot_" #name                                                                        \
      ": .quad 0\n.popsection\n"                                                              \
      ".pushsection .text\n.balign 16\n"                                                      \
      ".globl " #name "\n.type " #name ",@function\n" #name ": endbr64\n jmp *us_slot_" #name \
      "(%rip)\n"                                                                              \
      ".size " #name ", .-" #name "\n.popsection");
#include "cuda/libcudart/entry_points.inc"
#undef US_ENTRY

extern "C" {
extern us::cuda::EntryFn us_slots[] __attribute__((visibility("hidden")));
int cuGetExportTable(const void** table, const void* id);
}

namespace {

constexpr std::size_t kSlots = 0
#define US_ENTRY(name, level, note) +1
#include "cuda/libcudart/entry_points.inc"
#undef US_ENTRY
    ;

// Runs before any constructor of the program: the loader initialises libraries first.
__attribute__((constructor(101))) void fill_slots() {
  const void* table = nullptr;
  if (cuGetExportTable(&table, us::cuda::kRuntimeTableId) != 0 || !table) {
    std::fputs(
        "understudy: libcudart.so.13 found a libcuda.so.1 that is not Understudy's; start the program with `understudy "
        "run`\n",
        stderr);
    std::_Exit(127);
  }
  std::memcpy(us_slots, table, kSlots * sizeof(us::cuda::EntryFn));
}

}  // namespace
