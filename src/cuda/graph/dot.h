// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "driver/graph/graph.h"

namespace us::cuda {

// The graph as a picture in the DOT language. False: the file cannot be written.
bool write_dot(const driver::Graph&, const char* path, unsigned flags);

}  // namespace us::cuda
