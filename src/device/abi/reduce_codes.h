// SPDX-License-Identifier: Apache-2.0
// What reductions of asynchronous copies combine, and how: fields of BulkCode.
#pragma once
#include "base/types.h"

namespace us::device {

enum class ReduceOp : u8 { None, Add, Min, Max, Inc, Dec, And, Or, Xor };
enum class Element : u8 { U32, S32, U64, S64, F16, BF16, F32, F64 };

}  // namespace us::device
