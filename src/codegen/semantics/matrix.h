// SPDX-License-Identifier: Apache-2.0
// From the words of a matrix instruction to what its runtime function is told, and its registers.
#pragma once
#include <array>

#include "codegen/semantics/common.h"
#include "device/abi/mma_code.h"

namespace us::codegen {

numerics::MmaType mma_type(Type);
void read_shape(const isa::TokSet&, u32& m, u32& n, u32& k);  // the word m16n8k16 among the modifiers
bool matrix_fits(const ir::Inst&);                            // true for instructions of other kinds
device::MmaCode mma_code(const isa::TokSet&, const std::array<Type, 4>& types);
// d = a b + c; in: registers of a, b, c and the metadata.
void multiply(Builder&, const device::MmaCode&, const V* const (&in)[4], V* d);
// Operand k, one register or a vector of them. Returns their number.
u32 read_registers(const Sem&, u32 k, Type, V* out);
void write_registers(const Sem&, u32 k, const V*);

}  // namespace us::codegen
