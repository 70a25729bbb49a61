// SPDX-License-Identifier: Apache-2.0
// Numbers in instructions, as the toolkit's disassembler prints them.
#pragma once
#include <string>

#include "base/types.h"

namespace us::sass {

std::string hex(i64);
std::string float_text(u32 bits);
std::string double_text(u32 upper_half);
std::string half_text(u32 bits, bool bf16);

}  // namespace us::sass
