// SPDX-License-Identifier: Apache-2.0
// Functions of the device runtime that are written in PTX: linked to modules that call them and do not define them.
#pragma once
#include <memory>

#include "ir/ir.h"

namespace us::driver {

Result<std::unique_ptr<ir::Module>> add_device_library(std::unique_ptr<ir::Module>);

}  // namespace us::driver
