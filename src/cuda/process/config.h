// SPDX-License-Identifier: Apache-2.0
// What this process runs with: settings from the environment and the presets of its virtual devices. Read once.
#pragma once
#include "base/settings.h"
#include "driver/preset.h"

namespace us::cuda {

struct Config {
  Settings settings;
  std::vector<const driver::Preset*> devices;  // by ordinal
};

// A wrong setting ends the process with a message and exit status 125, before anything of CUDA was done.
const Config& config();

}  // namespace us::cuda
