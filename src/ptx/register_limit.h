// SPDX-License-Identifier: Apache-2.0
// What -maxrregcount says, in the text: for those who hand PTX on, where an assembler would have been told.
#pragma once
#include <string>

#include "base/types.h"

namespace us::ptx {

// `.maxnreg` for every kernel of the text that has none.
std::string with_register_limit(std::string text, u32 registers);

}  // namespace us::ptx
