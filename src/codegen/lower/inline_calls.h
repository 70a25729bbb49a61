// SPDX-License-Identifier: Apache-2.0
// Device functions whose lanes may wait for each other are part of their caller's control flow: a call runs all its
// lanes to the end, so lanes that wait inside for lanes outside would never see them come.
#pragma once
#include <map>

#include "ir/ir.h"

namespace us::codegen {

// Functions that contain a barrier, a warp-synchronous instruction or a loop that reads what other threads write, or
// that call such a function. By FuncId.
std::vector<u8> waiting_functions(const ir::Module&);

// Functions whose address is used as a value: what an indirect call may call. By FuncId.
std::vector<u32> address_taken_functions(const ir::Module&);
bool is_indirect(const ir::Inst&);
// Waiting functions that an indirect call may call.
std::vector<u32> waiting_targets(const ir::Module&, const std::vector<u8>& waiting, const ir::Inst& call);

// Replaces direct calls of waiting functions by their bodies, as deep as they go; recursive calls stay. Indirect
// calls that may reach one test for it first. Register form.
// `local_shift`: where the .local variables of each body lie in the frame of `f`, by SymId.
//
// Bodies::Shared, for dispatched code: a big function that is called from several places has one body, which remembers
// for each lane where it was called; functions that could come to themselves again are copied still. Without it nested
// calls multiply the code.
//
//   a: site = 0 ─┐            ┌ 0 ─► rest of a
//                ├─► body ─►──┤
//   b: site = 1 ─┘            └ 1 ─► rest of b
enum class Bodies : u8 { Copied, Shared };
void inline_waiting_calls(const ir::Module&, const std::vector<u8>& waiting, ir::Function& f,
                          std::map<u32, u32>& local_shift, Bodies);

}  // namespace us::codegen
