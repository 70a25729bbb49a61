// SPDX-License-Identifier: Apache-2.0
// The exported functions of libcuda.so.1. A slot holds the implementation, or what notes calls of it (call_trace.h).
#include <pthread.h>

#include "cuda/process/refusal.h"
#include "cuda/slots.h"

US_SLOT_ARRAY(us_driver_slot);
#define US_ENTRY(name, level, note) US_SLOT("us_driver_slot", #name, "us_impl_" #name);
#include "cuda/libcuda/entry_points.inc"
#undef US_ENTRY

#define US_ENTRY(name, level, note) extern "C" void name();
#include "cuda/libcuda/entry_points.inc"
#undef US_ENTRY

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
void fill_slots() {
  const auto rows = us::cuda::driver_entries();
  for (us::u32 i = 0; i < rows.size(); ++i) us_driver_slots[i] = us::cuda::driver_slot(i);
}

void forked() {
  if (us::cuda::refuse_in_child()) fill_slots();
}

__attribute__((constructor(101))) void begin() {
  us::cuda::refuse_without_room();
  fill_slots();
  pthread_atfork(nullptr, nullptr, forked);
}
}  // namespace
