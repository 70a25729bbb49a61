// SPDX-License-Identifier: Apache-2.0
// Recordings as a file for Perfetto and chrome://tracing.
//
//   process of the program     a track per thread that called the API
//   process "GPU 0, context 1" a track per stream; work beside it in the same stream (branches of a graph) goes to
//                              tracks below
//   arrows                     from a call to the work that it submitted
#pragma once
#include <string>
#include <vector>

#include "trace/reading.h"

namespace us::tools {

std::string chrome_trace(const std::vector<trace::Recording>&);

// How tables and traces call it: "copy host to device".
std::string work_name(const trace::Recording&, const trace::Work&);

}  // namespace us::tools
