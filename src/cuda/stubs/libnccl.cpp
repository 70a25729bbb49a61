// SPDX-License-Identifier: Apache-2.0
// What programs ask NCCL before they use it. Only where a program has no libnccl.so.2 of its own: the stock library
// runs here as far as its communicators need no kernels.
#include "cuda/stubs/stubs.h"

namespace {
constexpr int kSuccess = 0, kInvalidArgument = 4, kInvalidUsage = US_STUB_CODE;
}

US_STUB_API int ncclGetVersion(int* version) {
  if (!version) return us::stubs::fail(kInvalidArgument);
  *version = US_STUB_VERSION;
  return kSuccess;
}

US_STUB_API const char* ncclGetErrorString(int result) {
  return result == kSuccess           ? "no error"
         : result == kInvalidArgument ? "invalid argument"
         : result == kInvalidUsage    ? "invalid usage"
                                      : "unknown result code";
}

US_STUB_API const char* ncclGetLastError(void*) {
  return us::stubs::take_failure() ? "Understudy has the names of " US_STUB_NAME " only" : "";
}
