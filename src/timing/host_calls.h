// SPDX-License-Identifier: Apache-2.0
// What calls take of the host (host_calls.inc).
#pragma once
#include <string_view>

#include "timing/parameters.h"

namespace us::timing {

double host_cost(const Parameters&, std::string_view function);  // ns, beyond waiting

}  // namespace us::timing
