// SPDX-License-Identifier: Apache-2.0
// What generators of instructions read from the instruction table.
#pragma once
#include <string>
#include <vector>

#include "isa/operands.h"

namespace fuzz {

std::string_view set_named(std::string_view name);  // the alternatives of a set (isa/sets.inc)

// Forms that only compute: registers and literals in, registers out, no condition code, nothing that depends on thread
// or block.
const std::vector<us::isa::Form>& forms();

us::isa::Type type_of(const us::isa::OperandSpec&, const us::isa::Match&);
// Of the register that holds the operand: 1, 16, 32 or 64 if it can be generated.
us::u32 register_bits(const us::isa::OperandSpec&, us::isa::Type);

// Every mnemonic that a pattern stands for, in its order.
std::vector<std::string> every_spelling(std::string_view pattern);

}  // namespace fuzz
