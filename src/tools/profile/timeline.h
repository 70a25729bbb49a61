// SPDX-License-Identifier: Apache-2.0
// When launches would run on the device: a trace for Perfetto.
#pragma once
#include "timing/launch_profile.h"

namespace us::tools {

std::string timeline(const std::vector<timing::LaunchProfile>&, const std::vector<timing::WorkProfile>&);

}  // namespace us::tools
