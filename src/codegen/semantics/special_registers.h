// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/builder.h"

namespace us::codegen {

V special_register(Builder&, isa::SReg, u32 component);  // in the register's type

}  // namespace us::codegen
