// SPDX-License-Identifier: Apache-2.0
// Where assemblers of PTX are: the toolkit's, and those that Python packages bring.
#pragma once
#include <string>
#include <vector>

namespace us::driver {

// Paths, the toolkit's first: in $CUDA_HOME, $CUDA_PATH, $PATH, beside nvcc, in the usual places; then what
// $TRITON_PTXAS_PATH and $TRITON_PTXAS_BLACKWELL_PATH name; then those of packages of CUDA and Triton in the
// directories of Python packages that files in `maps` (as /proc/self/maps has them) and $VIRTUAL_ENV name.
std::vector<std::string> find_assemblers(const std::string& maps = "/proc/self/maps");

}  // namespace us::driver
