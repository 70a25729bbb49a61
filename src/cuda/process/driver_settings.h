// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cuda/process/config.h"
#include "driver/settings.h"

namespace us::cuda {
driver::Settings driver_settings(const Config&);
}  // namespace us::cuda
