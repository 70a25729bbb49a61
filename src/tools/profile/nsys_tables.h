// SPDX-License-Identifier: Apache-2.0
// Tables by the names, and with the columns, of Nsight Systems' reports, so that what reads those reads these.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tools/profile/placed.h"

namespace us::tools {

std::span<const std::string_view> nsys_reports();  // "cuda_gpu_kern_sum", ..
// `csv`: as `nsys stats --format csv` prints it; else as a table.
std::string nsys_table(std::string_view report, const std::vector<PlacedProcess>&, bool csv);

}  // namespace us::tools
