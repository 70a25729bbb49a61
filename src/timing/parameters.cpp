// SPDX-License-Identifier: Apache-2.0
#include "timing/parameters.h"

#include <algorithm>

#include <fmt/format.h>

namespace us::timing {
namespace {

#define US_TIMING(name, value, unit, uncertainty, source) {#name, value, unit, uncertainty, source},
constexpr ParameterRow kH200[] = {
#include "timing/h200.inc"
#include "timing/h200_timeline.inc"
};
constexpr ParameterRow kH100[] = {
#include "timing/h100.inc"
};
#undef US_TIMING

#define US_TIMING(name, value, unit, uncertainty, source) p.name = value;
constexpr Parameters h100() {
  Parameters p;
#include "timing/h100.inc"
  return p;
}
#undef US_TIMING

constexpr TimedDevice kDevices[] = {
    {"h200", "NVIDIA H200", {}, kH200},
    {"h100", "NVIDIA H100 80GB HBM3", h100(), kH100},
};

}  // namespace

std::span<const TimedDevice> timed_devices() { return kDevices; }

const TimedDevice* timed_device(std::string_view name) {
  const auto found =
      std::ranges::find_if(kDevices, [&](const TimedDevice& d) { return d.name == name || d.id == name; });
  return found == std::end(kDevices) ? nullptr : found;
}

const Parameters& parameters_of(std::string_view device) {
  const TimedDevice* const found = timed_device(device);
  return (found ? *found : kDevices[0]).parameters;
}

std::string no_parameters(std::string_view device) {
  std::string known;
  for (const TimedDevice& d : kDevices) known += fmt::format("{}{}", known.empty() ? "" : ", ", d.id);
  return fmt::format("the model knows {}, and this is an {}", known, device);
}

}  // namespace us::timing
