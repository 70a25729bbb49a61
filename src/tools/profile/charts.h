// SPDX-License-Identifier: Apache-2.0
// Charts of a launch, as pictures in HTML. Empty: the launch has nothing that it would show.
#pragma once
#include "timing/launch_profile.h"

namespace us::tools {

std::string roofline_chart(const timing::LaunchProfile&);
std::string memory_chart(const timing::LaunchProfile&);
std::string stall_chart(const timing::LaunchProfile&);
std::string occupancy_charts(const timing::LaunchProfile&);  // over registers, shared memory, threads of a block
std::string waves_chart(const timing::LaunchProfile&);

std::string bytes_text(double bytes);  // "1.5 MB"

}  // namespace us::tools
