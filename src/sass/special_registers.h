// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/types.h"

namespace us::sass {

// "SR_TID.X"; of one without a name its number, and `unknown` is set where a number is no register.
std::string special_register(u32 number, bool* unknown);

}  // namespace us::sass
