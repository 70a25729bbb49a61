// SPDX-License-Identifier: Apache-2.0
// Calls of a runtime function that gives nothing back and that a kernel calls at many places: one function of the
// module for all calls whose arguments have the same form puts the rows where they belong.
#pragma once
#include "codegen/llvm/values.h"

namespace us::codegen {

// The distances of a pattern's lanes from its base, as a constant of the module.
llvm::Constant* distances(ModuleEmitter&, const Shape&);

void call_shortly(FunctionState&, Values&, device::RtFn, std::span<const V> args);

}  // namespace us::codegen
