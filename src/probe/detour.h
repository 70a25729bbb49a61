// SPDX-License-Identifier: Apache-2.0
// What lanes of a warp do inside of one instruction for which machine code has a short way and a subroutine.
#pragma once
#include "base/types.h"

namespace us::probe {

enum class Detour : u8 {
  None,
  Short,  // operands that are zero, infinite or no number: the subroutine only tests
  Long,   // others that the short way does not take: the subroutine computes
};

}  // namespace us::probe
