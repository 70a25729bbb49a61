// SPDX-License-Identifier: Apache-2.0
// Source lines of kernels that a Python program holds as text.
#pragma once
#include <string>

namespace us::nvrtc {

// Somebody looks at lines: the program is checked, profiled or counted.
bool wants_lines();

// The source with `#line` before what stands in a file of the Python functions that called, and behind it; `name` is
// the file that the rest belongs to. As it was where nothing is found.
std::string with_lines(const std::string& source, const std::string& name);

}  // namespace us::nvrtc
