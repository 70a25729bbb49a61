// SPDX-License-Identifier: Apache-2.0
// From the words of a matrix instruction to what its runtime function is told.
#pragma once
#include <array>

#include "device/mma_code.h"
#include "isa/isa.h"

namespace us::codegen {

device::MmaCode mma_code(const isa::TokSet&, const std::array<isa::Type, 4>& types);

}  // namespace us::codegen
