// SPDX-License-Identifier: Apache-2.0
// Prepares a function for independent thread scheduling (ITS), where a dispatcher runs its blocks.
#pragma once
#include "ir/ir.h"

namespace us::codegen {

// What an instruction waits for before it may run: nothing, the lanes that its membermask names, or all lanes of the
// warp.
enum class Gate : u8 { None, Members, Warp };
Gate gate_of(const ir::Inst&);

// Rewrites a function in register form. Blocks keep their numbers, new ones follow.
//   - a barrier or an instruction with a gate begins a block, which is entered from one place only
//   - one that is guarded is jumped over instead
//   - lanes meet at warp-synchronous instructions of the same kind wherever these stand in the program (the compiler
//     unrolls loops and copies code), so all instances of one kind become one block:
//
//       a: shfl.sync d1 ...   b: shfl.sync d2 ...        a: site = 0 ─┐                    ┌ 0 ─► rest of a (d1 = d)
//          rest of a             rest of b          =>                ├─► shfl.sync d, ... ┤
//                                                       b: site = 1 ─┘                    └ 1 ─► rest of b (d2 = d)
void to_its_form(ir::Function&);

}  // namespace us::codegen
