// SPDX-License-Identifier: Apache-2.0
// Numbers of the instructions of a module, in the order of its text: what is counted and reported is told by them.
// Passes keep an instruction's number when they copy or move it; what they add has none.
#pragma once
#include "ir/ir.h"

namespace us::ir {

void number_sites(Module&);  // Inst::site, Terminator::site, Module::sites

struct Site {
  const Function* function = nullptr;
  const Inst* inst = nullptr;        // or
  const Terminator* term = nullptr;  // a branch, ret, exit
  SrcLoc loc() const { return inst ? inst->loc : term ? term->loc : SrcLoc{}; }
};
std::vector<Site> sites(const Module&);  // by number
// By number: at the first instruction of a block, and behind a call, where the lanes that come back go on.
std::vector<bool> block_begins(const Module&);

}  // namespace us::ir
