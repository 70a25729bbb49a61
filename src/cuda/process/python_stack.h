// SPDX-License-Identifier: Apache-2.0
// The Python functions that led into our libraries, where the program is an interpreter's.
#pragma once
#include <vector>

#include "probe/observer.h"

namespace us::cuda {

// Numbers of places, innermost first: of the program's own files from the first one on; where all are of packages, all.
// Empty: the calling thread runs no Python. The interpreter's lock is neither needed nor taken.
std::vector<u32> python_stack();
probe::Frame python_place(u32 number);

}  // namespace us::cuda
