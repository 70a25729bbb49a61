// SPDX-License-Identifier: Apache-2.0
// For API programs that call the driver API: `CU(call)` prints what the call returned.
#pragma once
#include <cuda.h>

#include "api.h"

namespace api {
inline CUresult show_cu(const char* text, CUresult code) {
  const char* name = nullptr;
  cuGetErrorName(code, &name);
  std::printf("%-90s %3d %s\n", text, static_cast<int>(code), name ? name : "?");
  return code;
}
}  // namespace api
#define CU(call) api::show_cu(#call, call)
