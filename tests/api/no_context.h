// SPDX-License-Identifier: Apache-2.0
// The common beginning of the two programs about calls without a current context.
#pragma once
#include <cudaProfiler.h>

#include "cu.h"

namespace no_context {

inline const char kText[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 base = 7;
.visible .global .attribute(.managed) .align 4 .u32 both = 9;
.visible .entry nothing() { ret; }
)";

inline void need(CUresult code, const char* text) {
  if (code == CUDA_SUCCESS) return;
  std::printf("%s: %d\nFAIL\n", text, static_cast<int>(code));
  std::exit(1);
}
#define NEED(call) no_context::need(call, #call)

inline CUcontext begin() {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // a crash is to lose nothing
  CUcontext c = nullptr;
  NEED(cuInit(0));
  NEED(cuDevicePrimaryCtxRetain(&c, 0));
  NEED(cuCtxSetCurrent(c));
  return c;
}

inline void title(const char* text) { std::printf("-- %s\n", text); }

}  // namespace no_context
