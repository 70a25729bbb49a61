// SPDX-License-Identifier: Apache-2.0
// What libnvrtc.so.12 has and its successor has not: older names of the link-time representation.
#include <nvrtc.h>

#include "cuda/api.h"
#include "cuda/libnvrtc/stock.h"

namespace {
template <class T>
nvrtcResult call(const char* name, nvrtcProgram p, T out) {
  auto* f = reinterpret_cast<nvrtcResult (*)(nvrtcProgram, T)>(us::nvrtc::stock_function(name));
  return f ? f(p, out) : NVRTC_ERROR_INTERNAL_ERROR;
}
}  // namespace

US_API nvrtcResult nvrtcGetNVVMSize(nvrtcProgram p, size_t* size);
US_API nvrtcResult nvrtcGetNVVM(nvrtcProgram p, char* out);
US_API nvrtcResult nvrtcGetNVVMSize(nvrtcProgram p, size_t* size) { return call("nvrtcGetNVVMSize", p, size); }
US_API nvrtcResult nvrtcGetNVVM(nvrtcProgram p, char* out) { return call("nvrtcGetNVVM", p, out); }
