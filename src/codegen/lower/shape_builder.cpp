// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/shape_builder.h"

#include <bit>

#include "codegen/semantics/special_registers.h"

namespace us::codegen {

Shape shape_immediate(const ir::Operand& o, isa::Type as) {
  const u32 bits = isa::bits_of(as);
  u64 v = static_cast<u64>(o.imm);
  Shape s;
  if (o.kind == ir::Operand::Kind::ImmF32 && bits == 64)
    v = std::bit_cast<u64>(static_cast<double>(std::bit_cast<float>(static_cast<u32>(v))));
  else if (o.kind == ir::Operand::Kind::ImmF64 && bits == 32)
    v = std::bit_cast<u32>(static_cast<float>(std::bit_cast<double>(v)));
  s = constant_shape(bits, v);
  // A constant that is no NaN pattern may meet arithmetic results without harm.
  const bool nan32 = bits == 32 && (v & 0x7f800000u) == 0x7f800000u && (v & 0x7fffffu);
  const bool nan64 = bits == 64 && (v & 0x7ff0000000000000ull) == 0x7ff0000000000000ull && (v & 0xfffffffffffffull);
  s.nan = nan32 || nan64 || bits < 32 ? Shape::Nan::Clean : Shape::Nan::Never;
  return s;
}

Shape shape_load(const MemRef& m, const Shape* addr, bool its) {
  using isa::Space;
  if (m.space == Space::Param && !m.param_of_function && (!addr || addr->uniform())) return uniform_shape(m.bits);
  if (m.space == Space::Param && addr && addr->kind == Shape::Kind::Top) return *addr;
  if (m.space == Space::Const && (!addr || addr->uniform())) return uniform_shape(m.bits);
  if (its || m.space == Space::Local || m.space == Space::Param) return varying_shape(m.bits);
  if (addr && addr->kind == Shape::Kind::Top) return *addr;
  return !addr || addr->uniform() ? uniform_shape(m.bits) : varying_shape(m.bits);
}

void ShapeBuilder::begin(const ir::Inst& i) {
  inst_ = &i;
  pool_.clear();
}

void ShapeBuilder::define(ir::ValueId v, Shape s) {
  Shape& old = values_[v.v];
  if (old.kind != Shape::Kind::Top) {
    // Only ever descend, so that the iteration ends.
    // A pattern under a guard stays one: the same instruction computes value and guard every time (a phi does not, see
    // meet).
    Shape before = old, after = s;
    const bool guarded = before.pattern() && after.pattern() && (before.guarded || after.guarded);
    if (guarded) before.guarded = after.guarded = false;
    Shape m = meet(before, after);
    m.guarded = guarded && m.pattern();
    if (same_shape(m, old)) return;
    old = m;
  } else {
    if (s.kind == Shape::Kind::Top) return;
    old = s;
  }
  changed = true;
}

Shape ShapeBuilder::operand_shape(const ir::Operand& o) const {
  if (o.kind == ir::Operand::Kind::Value) {
    Shape s = values_[o.value.v];
    if (s.kind == Shape::Kind::Top) s.bits = ir::bits_of(f_.regs[o.value.v]);
    if (s.kind != Shape::Kind::Top && !s.constant() && through_shadow && through_shadow(o.value)) {
      Shape v = varying_shape(s.bits);
      v.nan = s.nan;
      return v;
    }
    return s;
  }
  return constant_shape(1, static_cast<u64>(o.imm));
}

Shape ShapeBuilder::all_of(std::span<const V> args, u32 bits) const {
  Shape r = uniform_shape(bits);
  for (V v : args) {
    if (!v) continue;
    const Shape& s = at(v);
    if (s.kind == Shape::Kind::Top) {
      r = s;
      r.bits = bits;
      return r;
    }
    if (!s.uniform()) r = varying_shape(bits);
  }
  return r;
}

V ShapeBuilder::bin(Bin op, V a, V b) {
  const u32 bits = at(a).bits;
  Shape sb = at(b);
  if (sb.bits > bits) sb = shape_bin(Bin::UMin, sb, constant_shape(sb.bits, mask_bits(bits)));  // as Values::bin
  return make(shape_bin(op, at(a), sb.bits == bits ? sb : shape_resize(sb, bits, false, nullptr)));
}
V ShapeBuilder::fbin(FBin, FT t, V a, V b) { return make(shape_float(t, bits_of(t), {&at(a), &at(b)})); }
V ShapeBuilder::i2f(FT to, V a, bool) {
  Shape s = shape_lanewise(bits_of(to), {&at(a)});
  s.nan = Shape::Nan::Never;
  return make(s);
}

V ShapeBuilder::members(V m) {
  const Shape& s = at(m);
  if (!s.uniform() || (s.known && static_cast<u32>(s.value) == kFullMask)) return m;
  return make(its_ ? varying_shape(32) : uniform_shape(32));
}

V ShapeBuilder::shuffle(V src, V lane) {
  const Shape &s = at(src), &l = at(lane);
  if (s.kind == Shape::Kind::Top || l.kind == Shape::Kind::Top) return make(shape_lanewise(s.bits, {&s, &l}));
  Shape r = s.uniform() || l.uniform() ? (its_ ? varying_shape(s.bits) : uniform_shape(s.bits)) : varying_shape(s.bits);
  if (s.uniform() && s.known) r = s;
  r.nan = s.nan;
  return make(r);
}

void ShapeBuilder::load(const MemRef& m, std::span<V> out) {
  Shape a;
  if (m.addr) a = at(m.addr);
  for (V& v : out) {
    Shape s = shape_load(m, m.addr ? &a : nullptr, its_);
    s.bits = m.bits;
    v = make(s);
  }
}

V ShapeBuilder::symbol_address(ir::SymId id, i64 offset) {
  const ir::Symbol& s = module_.symbols[id.v];
  if (s.space == isa::Space::Shared && facts_.cluster_one)
    return make(constant_shape(64, s.offset + static_cast<u64>(offset)));
  if (s.space == isa::Space::Local) return make(uniform_shape(64));
  return make(uniform_shape(64));
}

void ShapeBuilder::call_runtime(device::RtFn fn, std::span<const V> args, std::span<const u32> bits, V* results,
                                bool uniform_if_args) {
  (void)fn;
  u32 k = 0;
  for (u32 b : bits) {
    Shape s = uniform_if_args ? all_of(args, b) : varying_shape(b);
    if (its_ && s.kind != Shape::Kind::Top) s = varying_shape(b);
    results[k++] = make(s);
  }
}

V ShapeBuilder::read(const ir::Operand& o, isa::Type as) {
  const u32 bits = isa::bits_of(as);
  switch (o.kind) {
    case ir::Operand::Kind::Value: {
      Shape s = operand_shape(o);
      if (s.bits != bits) s = shape_resize(s, bits, false, nullptr);
      if (o.negated) s = shape_un(Un::Not, s);
      return make(s);
    }
    case ir::Operand::Kind::Imm:
    case ir::Operand::Kind::ImmF32:
    case ir::Operand::Kind::ImmF64:
      return make(shape_immediate(o, as));
    case ir::Operand::Kind::SReg: {
      const V v = special_register(*this, o.sreg, o.comp);
      return width(v) == bits ? v : resize(v, bits, false);
    }
    case ir::Operand::Kind::Symbol: {
      V v = symbol_address(o.sym, o.imm);
      return bits == 64 ? v : resize(v, bits, false);
    }
    default:
      return make(uniform_shape(bits));
  }
}

void ShapeBuilder::write(const ir::Operand& o, V v) {
  if (o.kind != ir::Operand::Kind::Value) return;
  const u32 bits = ir::bits_of(f_.regs[o.value.v]);
  Shape s = at(v);
  if (s.bits != bits) s = shape_resize(s, bits, false, nullptr);
  s.bits = bits;
  if (inst_->guard.kind != ir::Operand::Kind::None) {
    u32 k = 0, mine = 0;
    ir::for_each_def(const_cast<ir::Inst&>(*inst_), [&](ir::ValueId d) {
      if (d == o.value) mine = k;
      ++k;
    });
    Shape g = operand_shape(inst_->guard);
    const ir::Operand& m = inst_->merge[mine];
    if (m.kind == ir::Operand::Kind::Value) {
      Shape old = values_[m.value.v];
      old.bits = bits;
      if (g.uniform() && g.known) g = uniform_shape(1);
      s = shape_select(g, s, old);
    } else if (!g.uniform() && g.kind != Shape::Kind::Top && !s.varying()) {
      // no old value: whatever the lanes hold is undefined, keep the shape
    }
  }
  define(o.value, s);
}

}  // namespace us::codegen
