// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace us {
std::string demangled(const std::string& name);  // as the program's source has it; a name that is not mangled as it is
}
