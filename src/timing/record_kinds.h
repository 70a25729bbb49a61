// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/types.h"

namespace us::timing {

// Of records in a file of profiles.
enum class RecordKind : u8 { Launch = 1, Listing = 2, Work = 3, Reused = 4, Summed = 5 };

}  // namespace us::timing
