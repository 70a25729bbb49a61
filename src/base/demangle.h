// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace us {

std::string demangled(const std::string& name);  // as the program's source has it; a name that is not mangled as it is
// Of a function, without what it returns and takes: `f<int>` of `void f<int>(int*)`.
std::string function_name(std::string_view demangled);

}  // namespace us
