// SPDX-License-Identifier: Apache-2.0
// The page `summary`: what kernels, copies and sets took together, and what the times leave out.
#pragma once
#include "tools/profile/placed.h"

namespace us::tools {

std::string summary_text(const std::vector<PlacedProcess>&);

}  // namespace us::tools
