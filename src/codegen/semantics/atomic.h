// SPDX-License-Identifier: Apache-2.0
// numerics/atomic.h on values of a builder.
#pragma once
#include "codegen/builder.h"

namespace us::codegen {

numerics::AtomicType atomic_type(isa::Type, bool shared);
// What the operation stores where `old` was. Lane by lane: no memory is touched.
V updated(Builder&, AtomOp, isa::Type, V old, V x, V y, bool shared);

}  // namespace us::codegen
