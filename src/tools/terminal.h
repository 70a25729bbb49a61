// SPDX-License-Identifier: Apache-2.0
// Messages to the user. They have colours only on a terminal, and not with NO_COLOR.
#pragma once
#include <string>
#include <string_view>

#include "base/types.h"

namespace us::tools {

enum class Style { Plain, Bold, Dim, Red, Green, Yellow };
std::string styled(std::FILE* stream, Style, std::string_view text);
void complain(std::string_view text);  // "understudy: ..." to stderr
void complain(const std::vector<Diag>&);

}  // namespace us::tools
