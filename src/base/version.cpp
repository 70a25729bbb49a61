// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

namespace us {
const char* const kVersionText = US_VERSION;
}
