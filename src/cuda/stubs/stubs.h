// SPDX-License-Identifier: Apache-2.0
// Libraries of which there are only the names, so that programs load that ask for them at their start and can do
// without: each function answers NOT_SUPPORTED and says so, once, by its name.
#pragma once

#define US_STUB_API extern "C" __attribute__((visibility("default")))

namespace us::stubs {
// The library's code for NOT_SUPPORTED; the first time that a function is called, a sentence on stderr.
int refuse(bool& said, const char* function);
int fail(int code);  // what this thread's last failure is
int take_failure();  // 0 when there was none since the last call
}  // namespace us::stubs
