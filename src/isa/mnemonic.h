// SPDX-License-Identifier: Apache-2.0
// An instruction's name with its modifiers, in the manual's order: "st.relaxed.gpu.global.u32".
#pragma once
#include <span>
#include <string>

#include "isa/isa.h"

namespace us::isa {

std::string mnemonic(Form, const TokSet&, std::span<const Type> types);

}  // namespace us::isa
