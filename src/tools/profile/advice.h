// SPDX-License-Identifier: Apache-2.0
// What could make a launch faster, and by how much: rules by Nsight Compute's names.
#pragma once
#include <optional>

#include "timing/launch_profile.h"

namespace us::tools {

struct Advice {
  std::string rule, title, text;
  std::optional<double> saved;  // a part of the duration, if the cause were gone; nothing: not known
};
// The most promising first.
std::vector<Advice> advice(const timing::LaunchProfile&);
std::string advice_text(const std::vector<Advice>&);
std::string advice_html(const std::vector<Advice>&);

}  // namespace us::tools
