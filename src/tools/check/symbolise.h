// SPDX-License-Identifier: Apache-2.0
// Places of the host are found as "MODULE+0xOFFSET" in Frame::file. llvm-symbolizer or addr2line, if there is one,
// makes files and lines of them, with the calls that were inlined; else the module's name is left.
#pragma once
#include <vector>

#include "sanitizer/finding.h"

namespace us::tools {

void symbolise(std::vector<sanitizer::Finding>&);

}  // namespace us::tools
