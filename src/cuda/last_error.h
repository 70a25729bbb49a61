// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/types.h"

namespace us::cuda {

// What the runtime remembers for each thread: the last error, one for each runtime in the process. These are of the
// runtime that this thread's call was meant for (calling_runtime.h).
int record_error(int code);  // remembers a failure, returns the code
int peek_last_error();
int take_last_error();  // and resets it

i64 offset_of_calling_runtime();  // in a thread's data, the same in all threads; never 0

}  // namespace us::cuda
