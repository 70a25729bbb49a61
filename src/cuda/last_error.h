// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/types.h"

namespace us::cuda {

int record_error(int code);  // remembers a failure for cudaGetLastError of this thread, returns it
int peek_last_error();
int take_last_error();  // and resets it
int runtime_stub_result(int code);

}  // namespace us::cuda
