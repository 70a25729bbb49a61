// SPDX-License-Identifier: Apache-2.0
// What a pass found out, as lines behind the dump of the function.
#pragma once
#include <string>

#include "base/passes.h"
#include "codegen/lower/lowered.h"

namespace us::codegen {

std::string facts_text(const ir::Module&, const Lowered&, Pass);

}  // namespace us::codegen
