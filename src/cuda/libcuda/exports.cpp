// SPDX-License-Identifier: Apache-2.0
// The exported functions of libcuda.so.1: per symbol one slot and one jump through it. A slot holds the implementation, or
// what notes calls of it (call_trace.h). Slots stand in the order of the rows, in their own section, so they form one array.
#include "cuda/call_trace.h"

asm(".pushsection .us_driver_slots,\"aw\",@progbits\n.balign 8\nus_driver_slots:\n.popsection");
#define US_ENTRY(name, level, note)                                                                  \
  asm(".pushsection .us_driver_slots,\"aw\",@progbits\n"                                             \
      "us_driver_slot_" #name ": .quad us_impl_" #name                                               \
      "\n.popsection\n"                                                                              \
      ".pushsection .text\n.balign 16\n"                                                             \
      ".globl " #name "\n.type " #name ",@function\n" #name ": endbr64\n jmp *us_driver_slot_" #name \
      "(%rip)\n"                                                                                     \
      ".size " #name ", .-" #name "\n.popsection");
#include "cuda/libcuda/entry_points.inc"
#undef US_ENTRY

#define US_ENTRY(name, level, note) extern "C" void name();
#include "cuda/libcuda/entry_points.inc"
#undef US_ENTRY

extern "C" us::cuda::EntryFn us_driver_slots[] __attribute__((visibility("hidden")));

namespace us::cuda {
namespace {
constexpr EntryFn functions[] = {
#define US_ENTRY(name, level, note) &::name,
#include "cuda/libcuda/entry_points.inc"
#undef US_ENTRY
};
}  // namespace

EntryFn exported_driver_function(const Entry& e) { return functions[&e - driver_entries().data()]; }
}  // namespace us::cuda

namespace {
__attribute__((constructor(101))) void fill_slots() {
  const auto rows = us::cuda::driver_entries();
  for (us::u32 i = 0; i < rows.size(); ++i) us_driver_slots[i] = us::cuda::noted_driver(i);
}
}  // namespace
