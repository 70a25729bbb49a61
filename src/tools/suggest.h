// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <string_view>

namespace us::tools {

// The known word that `word` was probably meant to be; empty if none is near.
std::string_view nearest(std::string_view word, std::initializer_list<std::string_view> known);

}  // namespace us::tools
