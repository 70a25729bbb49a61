// SPDX-License-Identifier: Apache-2.0
// The table from instruction forms to semantics functions, and how results reach registers.
#include "codegen/semantics/matrix.h"
#include "isa/operands.h"

namespace us::codegen {

#define US_INST(id, pattern, operands, effects, semantics) void semantics(const Sem&);
#include "isa/instructions.inc"
#undef US_INST

// Rows without semantics name this; it stands in no table.
void sem_todo(const Sem&) { US_UNREACHABLE(); }
// What no modelled device has.
void sem_needs_sm100(const Sem&) { US_UNREACHABLE(); }
void sem_needs_multicast(const Sem&) { US_UNREACHABLE(); }
// Branches, calls, returns and exits are done by whoever drives the builder.
void sem_control(const Sem&) { US_UNREACHABLE(); }

SemFn semantics_of(isa::Form form) {
  static constexpr SemFn table[] = {
      nullptr,
#define US_INST(id, pattern, operands, effects, semantics) &semantics,
#include "isa/instructions.inc"
#undef US_INST
  };
  const SemFn f = table[static_cast<std::size_t>(form)];
  return f == &sem_todo || f == &sem_control || f == &sem_needs_sm100 || f == &sem_needs_multicast ? nullptr : f;
}

// A reference value to compare texels with, the last operand of tex and tld4: not modelled.
SemFn semantics_of(const ir::Inst& i) {
  const bool texture = i.form == isa::Form::tex || i.form == isa::Form::tex_base || i.form == isa::Form::tex_level ||
                       i.form == isa::Form::tex_grad || i.form == isa::Form::tld4;
  if (texture && i.ops[isa::operands_of(i.form).specs.size() - 1].kind != ir::Operand::Kind::None) return nullptr;
  if (!matrix_fits(i)) return nullptr;
  return semantics_of(i.form);
}

void write_extended(Builder& b, const ir::Operand& d, V v, Type t) {
  if (d.kind == ir::Operand::Kind::Value && isa::is_signed(t)) {
    const u32 w = b.register_bits(d.value);
    if (w > b.width(v)) v = b.sext(v, w);
  }
  b.write(d, v);
}
void Sem::out(u32 k, V v, Type t) const { write_extended(b, i.ops[k], v, t); }

}  // namespace us::codegen
