// SPDX-License-Identifier: Apache-2.0
// How far addresses are from a value that one test can speak for: an address is `root + d`, low <= d <= high. All
// elements of an array have the array's address as root, if their index is a number of 32 bits or is bounded otherwise.
#pragma once
#include "codegen/lower/analysis.h"

namespace us::codegen {

struct Reach {
  ir::ValueId root;  // none, and `symbol` none: nothing is known
  ir::SymId symbol;  // the root is the address of a variable
  i64 low = 0, high = 0;
};

std::vector<Reach> reach(const ir::Module&, const ir::Function&, const ir::Cfg&, const Analysis&);  // by ValueId

}  // namespace us::codegen
