// SPDX-License-Identifier: Apache-2.0
// Are results of .approx instructions inside the error bounds that the PTX ISA documents?
#pragma once
#include <string>
#include <vector>

#include "runner/case_file.h"

namespace ptx_test {

// `spec`: "approx <function> ulp=<n>|rel=<log2>|abs=<log2>|lg2=<log2> [ftz]".
// Empty, or what is wrong with the first bad element.
std::string check_bounds(const Case&, const Array& out, const std::vector<std::uint8_t>& got);

}  // namespace ptx_test
