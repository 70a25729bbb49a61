// SPDX-License-Identifier: Apache-2.0
// From the operands and modifiers of an instruction to a MemRef.
#pragma once
#include "codegen/semantics/common.h"

namespace us::codegen {

// Ordinary accesses, by which passes know their instructions.
void sem_ld(const Sem&);
void sem_st(const Sem&);
void sem_atom(const Sem&);
void sem_red(const Sem&);

isa::Space space_of(const Sem&);
probe::Space probe_space(isa::Space);  // what is not generic
Order order_of(const Sem&, Order otherwise);
Scope scope_of(const Sem&, Scope otherwise);
device::NoteCode fence_note(device::FenceKind, Order, Scope);
// Operand k, an address in `space`, `count` elements of `bits`.
MemRef reference(const Sem&, u32 k, isa::Space space, u32 bits, u32 count);
// Operand k as a 32-bit offset in the shared window, whether it is written as a shared or as a generic address.
V shared_offset(const Sem&, u32 k, bool generic);
// Operand k as an address within its space, 64 bits.
V address(const Sem&, u32 k);

}  // namespace us::codegen
