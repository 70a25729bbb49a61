// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that loads nothing.
#pragma once
#include "tools/profile/report.h"
#include "tools/source_lines.h"

namespace us::tools {

std::string to_html(const std::vector<ReportLaunch>&);
std::string source_html(const timing::LaunchProfile&, SourceLines&);  // its source view

}  // namespace us::tools
