// SPDX-License-Identifier: Apache-2.0
// What functions of a static CUDA runtime jump to: one stub for each function of our libcudart of the same version,
// which is loaded into the program by the first call.
#pragma once
#include "cuda/entry_table.h"

namespace us::loader {

enum class RuntimeVersion { Cuda12, Cuda13 };
cuda::EntryFn find_stub(RuntimeVersion, const char* name);  // null: ours has no such function

}  // namespace us::loader
