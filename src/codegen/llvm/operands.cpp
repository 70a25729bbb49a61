// SPDX-License-Identifier: Apache-2.0
// Operands of the current instruction.
#include "codegen/llvm/warp_builder.h"
#include "codegen/lower/shape_builder.h"
#include "codegen/semantics/special_registers.h"

namespace us::codegen {

V WarpBuilder::read(const ir::Operand& o, isa::Type as) {
  const u32 bits = isa::bits_of(as);
  switch (o.kind) {
    case ir::Operand::Kind::Value: {
      V v = v_.make(slots_.read(o.value));
      if (v_.at(v).shape.bits != bits) v = v_.resize(v, bits, false);
      return o.negated ? v_.un(Un::Not, v) : v;
    }
    case ir::Operand::Kind::Imm:
    case ir::Operand::Kind::ImmF32:
    case ir::Operand::Kind::ImmF64: {
      if (bits > 64) return v_.imm(bits, static_cast<u64>(o.imm));
      return v_.make_uniform(nullptr, shape_immediate(o, as));
    }
    case ir::Operand::Kind::SReg: {
      V v = special_register(*this, o.sreg, o.comp);
      return v_.at(v).shape.bits == bits ? v : v_.resize(v, bits, false);
    }
    case ir::Operand::Kind::Symbol: {
      V v = memory_.symbol_address(o.sym, o.imm);
      return bits == 64 ? v : v_.resize(v, bits, false);
    }
    default:
      return v_.imm(bits, 0);
  }
}

void WarpBuilder::write(const ir::Operand& o, V v) {
  if (o.kind != ir::Operand::Kind::Value) return;
  const u32 bits = ir::bits_of(f_.regs[o.value.v]);
  if (v_.at(v).shape.bits != bits) v = v_.resize(v, bits, false);
  written_.push_back({o.value, v});
}

}  // namespace us::codegen
