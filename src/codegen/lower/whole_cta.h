// SPDX-License-Identifier: Apache-2.0
// Kernels whose only blocking instruction is the barrier of the whole CTA run without fibres: one call runs all warps.
#pragma once
#include <optional>

#include "codegen/lower/analysis.h"

namespace us::codegen {

// Barriers of the whole CTA, in code that a warp reaches with all its lanes, if nothing else waits; else nothing.
std::optional<u32> whole_barriers(const ir::Module&, const ir::Function&, const Analysis&, const CodeFacts&);
// Barriers end their blocks, which go on in one that nothing else leads to. SSA form; the Cfg is another one then.
void split_after_barriers(ir::Function&);

}  // namespace us::codegen
