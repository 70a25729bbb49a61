// SPDX-License-Identifier: Apache-2.0
// When launches would run on the device: a trace for Perfetto.
#pragma once
#include "tools/profile/placed.h"

namespace us::tools {

std::string timeline(const std::vector<PlacedProcess>&);

}  // namespace us::tools
