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

// A wrong setting ends the process with a message and exit status 120, before anything of CUDA was done.
const Config& config();

// A fact of device `ordinal`, with what differs between several virtual devices of one preset (PCI ids).
i64 attribute_of(u32 ordinal, driver::Attribute);
void uuid_of(u32 ordinal, u8 out[16]);

}  // namespace us::cuda
