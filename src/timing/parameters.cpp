// SPDX-License-Identifier: Apache-2.0
#include "timing/parameters.h"

namespace us::timing {
namespace {

constexpr ParameterRow kRows[] = {
#define US_TIMING(name, value, unit, uncertainty, source) {#name, value, unit, uncertainty, source},
#include "timing/h200.inc"
#include "timing/h200_timeline.inc"
#undef US_TIMING
};

}  // namespace

std::span<const ParameterRow> parameter_rows() { return kRows; }

}  // namespace us::timing
