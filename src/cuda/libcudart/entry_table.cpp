// SPDX-License-Identifier: Apache-2.0
#define US_TABLE_FILE "cuda/libcudart/entry_points.inc"
#define US_STUB_RESULT(code) runtime_stub_result(code)
namespace us::cuda {
int runtime_stub_result(int code);  // records the thread's last error; last_error.cpp
}  // namespace us::cuda
#include "cuda/call_trace.h"
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
  static const std::vector<EntryFn> functions = [] {
    std::vector<EntryFn> f;
    for (u32 i = 0; i < kRows; ++i) f.push_back(noted_runtime(i));
    return f;
  }();
  return functions.data();
}

}  // namespace us::cuda
