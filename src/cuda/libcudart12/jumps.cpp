// SPDX-License-Identifier: Apache-2.0
// The exported functions of libcudart.so.12: jumps to those of libcudart.so.13, or to the converting ones here.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "cuda/calling_runtime.h"
#include "cuda/libcudart12/runtime13.h"

US_RUNTIME_SLOTS;
#define US_SAME(name) US_RUNTIME_ENTRY(#name, "12");
#define US_AS(name, other) US_RUNTIME_ENTRY(#name, "12");
#define US_OWN(name) US_RUNTIME_ENTRY(#name, "12");
#include "cuda/libcudart12/entry_points.inc"
#undef US_SAME
#undef US_AS
#undef US_OWN

#define US_SAME(name)
#define US_AS(name, other)
#define US_OWN(name) US_API12 void us12_##name();
#include "cuda/libcudart12/entry_points.inc"
#undef US_SAME
#undef US_AS
#undef US_OWN

extern "C" int cuGetExportTable(const void** table, const void* id);
extern "C" __attribute__((visibility("hidden"))) void us_fill_slots();
US_RUNTIME_FILL("us_fill_slots");

namespace us::cuda12 {
namespace {

const cuda::EntryFn* functions = nullptr;  // of libcudart.so.13, by row

void find_functions() {
  const void* table = nullptr;
  if (cuGetExportTable(&table, cuda::kRuntimeTableId) != 0 || !table) {
    std::fputs(
        "understudy: libcudart.so.12 found a libcuda.so.1 that is not Understudy's; start the program with `understudy "
        "run`\n",
        stderr);
    std::_Exit(127);
  }
  functions = static_cast<const cuda::EntryFn*>(table);
}

}  // namespace

cuda::EntryFn runtime13(Row row) {
  if (!functions) find_functions();
  return functions[static_cast<u32>(row)];
}

}  // namespace us::cuda12

void us_fill_slots() {
  using us::cuda12::Row;
  us::cuda12::find_functions();
  us::cuda::EntryFn* slot = us_slots;
#define US_SAME(name) *slot++ = us::cuda12::runtime13(Row::name);
#define US_AS(name, other) *slot++ = us::cuda12::runtime13(Row::other);
#define US_OWN(name) *slot++ = &us12_##name;
#include "cuda/libcudart12/entry_points.inc"
#undef US_SAME
#undef US_AS
#undef US_OWN
  const auto offset = reinterpret_cast<us::i64>(us::cuda12::runtime13(Row::Count));
  std::atomic_ref(us_runtime_offset).store(offset, std::memory_order_release);
}

namespace {
// As in libcudart/jumps.cpp.
__attribute__((constructor(101))) void begin() {
  us_fill_slots();
  pthread_atfork(nullptr, nullptr, us_fill_slots);
}
}  // namespace
