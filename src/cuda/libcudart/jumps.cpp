// SPDX-License-Identifier: Apache-2.0
// All of libcudart.so.13: slots that are filled from libcuda.so.1 at load.
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda/calling_runtime.h"

US_RUNTIME_SLOTS;
#define US_ENTRY(name, level, note) US_RUNTIME_ENTRY(#name, "13");
#include "cuda/libcudart/entry_points.inc"
#undef US_ENTRY

extern "C" int cuGetExportTable(const void** table, const void* id);

extern "C" __attribute__((visibility("hidden"))) void us_fill_slots();
US_RUNTIME_FILL("us_fill_slots");

namespace {

constexpr std::size_t kSlots = 0
#define US_ENTRY(name, level, note) +1
#include "cuda/libcudart/entry_points.inc"
#undef US_ENTRY
    ;

}  // namespace

void us_fill_slots() {
  const void* table = nullptr;
  if (cuGetExportTable(&table, us::cuda::kRuntimeTableId) != 0 || !table) {
    std::fputs(
        "understudy: libcudart.so.13 found a libcuda.so.1 that is not Understudy's; start the program with `understudy "
        "run`\n",
        stderr);
    std::_Exit(127);
  }
  std::memcpy(us_slots, table, kSlots * sizeof(us::cuda::EntryFn));
  const auto offset = reinterpret_cast<us::i64>(static_cast<const us::cuda::EntryFn*>(table)[kSlots]);
  std::atomic_ref(us_runtime_offset).store(offset, std::memory_order_release);
}

namespace {

// Runs before any constructor of a program that is linked with this library: the loader initialises libraries first,
// and libcuda.so.1 before this one. So its handler in a child is the first, too: the table may be another one there
// (refusal.h).
__attribute__((constructor(101))) void begin() {
  us_fill_slots();
  pthread_atfork(nullptr, nullptr, us_fill_slots);
}

}  // namespace
