// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/finding.h"

#include <array>

namespace us::sanitizer {

const CheckInfo& info(Check c) {
  static constexpr std::array<CheckInfo, static_cast<std::size_t>(Check::Count)> rows = {{
#define US_CHECK_ROW(id, name, severity, sentence) {name, Severity::severity, sentence},
#include "sanitizer/checks.inc"
#undef US_CHECK_ROW
  }};
  return rows[static_cast<std::size_t>(c)];
}

}  // namespace us::sanitizer
