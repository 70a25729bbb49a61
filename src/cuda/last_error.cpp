// SPDX-License-Identifier: Apache-2.0
// The runtime API's per-thread last error.
#include "cuda/last_error.h"

namespace us::cuda {
namespace {
thread_local int last_error = 0;
}

int runtime_stub_result(int code) { return record_error(code); }
int record_error(int code) {
  constexpr int kNotReady = 600;  // an answer, no error
  if (code != 0 && code != kNotReady) last_error = code;
  return code;
}
int peek_last_error() { return last_error; }
int take_last_error() { return std::exchange(last_error, 0); }

}  // namespace us::cuda
