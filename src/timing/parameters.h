// SPDX-License-Identifier: Apache-2.0
// What the model of time knows of a device: one row each, with its unit and where it comes from (h200.inc,
// h200_timeline.inc).
#pragma once
#include <span>
#include <string_view>

#include "base/types.h"

namespace us::timing {

struct Parameters {
#define US_TIMING(name, value, unit, uncertainty, source) double name = value;
#include "timing/h200.inc"
#include "timing/h200_timeline.inc"
#undef US_TIMING
};

struct ParameterRow {
  std::string_view name;
  double value;
  std::string_view unit;
  double uncertainty;  // a part of the value
  std::string_view source;
};
std::span<const ParameterRow> parameter_rows();

}  // namespace us::timing
