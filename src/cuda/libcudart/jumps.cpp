// SPDX-License-Identifier: Apache-2.0
// All of libcudart.so.13: slots that are filled from libcuda.so.1 at load.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda/slots.h"

US_SLOT_ARRAY(us_slot);
#define US_ENTRY(name, level, note) US_SLOT("us_slot", #name, "0");
#include "cuda/libcudart/entry_points.inc"
#undef US_ENTRY

extern "C" int cuGetExportTable(const void** table, const void* id);

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
