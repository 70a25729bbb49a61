// SPDX-License-Identifier: Apache-2.0
// What every function keeps to, whatever pass it comes from. Parser, passes and code generation rely on it without
// asking.
//
// Instructions
//   - `ops` has exactly one entry per operand that the row names; absent ones are Kind::None, and only optional ones
//     are absent. What a pass adds for itself stands in fields of its own (`merge`, `roots`, `late`), never behind
//     `ops`
//   - a destination is a register, `_`, or a vector of those; a source is anything else that its row allows
//   - a register is as wide as the row's type for its place (wider where the row says so); predicates are registers of
//     their own kind
//   - a guard is a predicate, or a literal where nothing wrote it
//   - a call names a function that exists, or a register; arguments and results are parameters, registers and literals
//   - ids are in range: registers, symbols, blocks, prototypes
//
// Blocks
//   - block 0 is the entry. Br has one target, CondBr two and a predicate, Switch at least one and an index of 32 bits;
//     the others none
//   - `text` is there exactly for what has no row
//
// Register form: a register is written anywhere, any number of times. No phis, no `merge`, no `roots`.
//
// SSA form
//   - every block can be reached
//   - `preds` are the blocks that lead there, each once, in ascending order; a phi has one input for each. Kind::None:
//     not written
//   - one definition for each value that is used; it dominates every use, for an input of a phi the end of that
//     predecessor
//   - a root is defined, but need not reach: a phi one of whose ways did not write it keeps the root of the others, and
//     who reads it came by those
//   - phis, their inputs, `merge` and what it replaces have one width; guarded instructions have one `merge` entry per
//     definition, others have none
//   - `origin` names a register for each value
#pragma once
#include "ir/cfg.h"

namespace us::ir {

// What is wrong, each with function, block and instruction; empty: nothing. Takes anything, however broken. With a Cfg:
// are its edges, order and dominators this function's? Post-dominators are not compared: passes may empty blocks that
// end their threads, and edges to those count no more.
std::vector<Diag> verify(const Module&, const Function&, const Cfg* = nullptr);

}  // namespace us::ir
