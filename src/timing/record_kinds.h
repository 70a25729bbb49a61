// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "base/types.h"

namespace us::timing {

// Of records in a file of profiles.
enum class RecordKind : u8 { Launch = 1, Listing = 2, Work = 3, Reused = 4, Summed = 5 };

// What a file begins with that a person keeps: another number whenever the fields of a record are others.
inline constexpr std::string_view kKeptProfiles = "understudy profiles 2\n";

}  // namespace us::timing
