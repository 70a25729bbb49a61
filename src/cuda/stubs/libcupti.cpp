// SPDX-License-Identifier: Apache-2.0
// What programs ask CUPTI before they use it.
#include <cstdint>

#include "cuda/stubs/stubs.h"

using us::stubs::fail;

namespace {
constexpr int kSuccess = 0, kInvalidParameter = 1, kNotSupported = US_STUB_CODE;

int text_of(int result, const char** text) {
  if (!text) return fail(kInvalidParameter);
  *text = result == kSuccess            ? "CUPTI_SUCCESS"
          : result == kInvalidParameter ? "CUPTI_ERROR_INVALID_PARAMETER"
          : result == kNotSupported     ? "CUPTI_ERROR_NOT_SUPPORTED"
                                        : "CUPTI_ERROR_UNKNOWN";
  return kSuccess;
}
}  // namespace

US_STUB_API int cuptiGetVersion(std::uint32_t* version) {
  if (!version) return fail(kInvalidParameter);
  *version = US_STUB_VERSION;
  return kSuccess;
}

US_STUB_API int cuptiGetResultString(int result, const char** text) { return text_of(result, text); }
US_STUB_API int cuptiGetErrorMessage(int result, const char** text) { return text_of(result, text); }
US_STUB_API int cuptiGetLastError() { return us::stubs::take_failure(); }
