// SPDX-License-Identifier: Apache-2.0
#include "cuda/last_error.h"

#include <map>
#include <utility>

namespace us::cuda {
namespace {

// Written by the ways into libcudart (calling_runtime.h), without a call: so it lies at a fixed place.
__attribute__((tls_model("initial-exec"))) thread_local u32 calling_runtime = 0;

// By runtime; made by the first failure. Never destroyed, as ThreadState.
thread_local std::map<u32, int>* errors = nullptr;

}  // namespace

i64 offset_of_calling_runtime() {
  return reinterpret_cast<i64>(&calling_runtime) - reinterpret_cast<i64>(__builtin_thread_pointer());
}

int runtime_stub_result(int code) { return record_error(code); }
int record_error(int code) {
  constexpr int kNotReady = 600;  // an answer, no error
  if (code == 0 || code == kNotReady) return code;
  if (!errors) errors = new std::map<u32, int>;
  return (*errors)[calling_runtime] = code;
}
int peek_last_error() {
  if (!errors) return 0;
  const auto it = errors->find(calling_runtime);
  return it == errors->end() ? 0 : it->second;
}
int take_last_error() {
  const int code = peek_last_error();
  if (code) errors->erase(calling_runtime);
  return code;
}

}  // namespace us::cuda
