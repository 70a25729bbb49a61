// SPDX-License-Identifier: Apache-2.0
// What the model of time knows of devices: one row for each number, with its unit and where it comes from. An H200 has
// all rows (h200.inc, h200_timeline.inc); another device those in which it differs (h100.inc).
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace us::timing {

struct Parameters {  // of an H200
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

struct TimedDevice {
  std::string_view id, name;  // "h200", "NVIDIA H200"
  Parameters parameters;
  std::span<const ParameterRow> rows;
};
std::span<const TimedDevice> timed_devices();  // the first one is an H200

// By its name, or its id; null: its parameters are not known.
const TimedDevice* timed_device(std::string_view name);
const Parameters& parameters_of(std::string_view device);  // an H200's, if its own are not known
std::string no_parameters(std::string_view device);        // the sentence that says so

}  // namespace us::timing
