// SPDX-License-Identifier: Apache-2.0
// Changes to functions that more than one pass makes: new registers, instructions and blocks, and blocks cut in two.
//
//   cut(f, b, k, to)      b: i0 .. ik-1 | ik .. in ; end       =>   b: i0 .. ik-1 ; (no end)     to: ik .. in ; end
//   split(f, b, k)        the same into a new block, to which b jumps; in SSA form phis and predecessors follow
//
// References to blocks and instructions do not survive the functions that add some.
#pragma once
#include "ir/ir.h"

namespace us::ir {

Operand reg(ValueId);
Operand literal(i64);
Operand address(SymId, i64 byte);
Operand new_register(Function&, Width);

// An instruction by its mnemonic ("ld.param.b32"). Operands that are not given are absent.
Inst make_inst(std::string_view mnemonic, std::vector<Operand> ops, const SrcLoc&);
Inst make_move(Width, Operand to, Operand from, const SrcLoc&);

Terminator jump(u32 to, const SrcLoc&);
Terminator fork(const Operand& condition, u32 yes, u32 no, const SrcLoc&);

u32 add_blocks(Function&, u32 count = 1);  // the first new one
void append(Block&, std::vector<Inst>);
void prepend(Block&, std::vector<Inst>);
void cut(Function&, u32 block, std::size_t k, u32 to);
u32 split(Function&, u32 block, std::size_t k);  // the new block

// Block::preds as the terminators say, in the order of Cfg::preds; inputs of phis move along.
void update_preds(Function&);

}  // namespace us::ir
