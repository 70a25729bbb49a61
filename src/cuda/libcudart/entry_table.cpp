// SPDX-License-Identifier: Apache-2.0
#define US_TABLE_FILE "cuda/libcudart/entry_points.inc"
#define US_STUB_RESULT(code) runtime_stub_result(code)
namespace us::cuda {
int runtime_stub_result(int code);  // records the thread's last error; last_error.cpp
}  // namespace us::cuda
#include "cuda/last_error.h"
#include "cuda/process/refusal.h"
#include "cuda/stub_rows.h"

namespace us::cuda {

void append_driver_stub_calls(std::vector<StubCalls>&);

std::span<const Entry> runtime_entries() { return rows; }

std::vector<StubCalls> stub_calls() {
  std::vector<StubCalls> out;
  append_stub_calls(out);
  append_driver_stub_calls(out);
  return out;
}

const EntryFn* runtime_functions() {
  static EntryFn functions[kRows + 1], refusals[kRows + 1];
  EntryFn* const now = refusing() ? refusals : functions;
  for (u32 i = 0; i < kRows; ++i) now[i] = runtime_slot(i);  // the same each time
  now[kRows] = reinterpret_cast<EntryFn>(offset_of_calling_runtime());
  return now;
}

}  // namespace us::cuda
