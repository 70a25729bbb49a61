// SPDX-License-Identifier: Apache-2.0
// Where a program reads next: how far an address moves from one iteration of its loop to the next, or, where no loop
// moves it, from a block of the grid to its neighbour (ctaid.x + 1), which the same worker runs next. A host fetches
// data ahead by itself only along one stream inside one page.
#pragma once
#include "codegen/lower/analysis.h"

namespace us::codegen {

struct Stride {
  i64 bytes = 0;  // 0: it does not move, or nobody knows how far
  bool of_grid = false;
};
std::vector<Stride> strides(const ir::Function&, const ir::Cfg&, const Analysis&);  // by ValueId

}  // namespace us::codegen
