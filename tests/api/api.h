// SPDX-License-Identifier: Apache-2.0
// What the API programs share: each prints the code that a call returned, and the recording of a real device judges it.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace api {

// "expression  code  name". The last error is cleared unless it belongs to what is shown.
inline cudaError_t show(const char* text, cudaError_t code) {
  std::printf("%-90s %3d %s\n", text, static_cast<int>(code), cudaGetErrorName(code));
  return code;
}
#define SHOW(call) api::show(#call, call)

inline void value(const char* what, long long v) { std::printf("%-90s %lld\n", what, v); }
#define VALUE(expression) api::value(#expression, static_cast<long long>(expression))

inline void must(cudaError_t code, const char* text, int line) {
  if (code == cudaSuccess) return;
  std::printf("line %d: %s: %s\nFAIL\n", line, text, cudaGetErrorName(code));
  std::exit(1);
}
#define MUST(call) api::must(call, #call, __LINE__)

}  // namespace api
