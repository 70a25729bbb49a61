// SPDX-License-Identifier: Apache-2.0
// mov, address conversions, shared windows of a cluster.
#include "codegen/semantics/memory.h"

namespace us::codegen {
namespace {

Type untyped(u32 bits) {
  switch (bits) {
    case 8:
      return Type::b8;
    case 16:
      return Type::b16;
    case 32:
      return Type::b32;
    case 64:
      return Type::b64;
    default:
      US_UNREACHABLE();
  }
}
V shared_window(Builder& b) { return b.to_generic(isa::Space::SharedCluster, b.imm(64, 0)); }
constexpr u64 kStride = device::kCtaSharedStride;

}  // namespace

void sem_mov(const Sem& s) {
  Builder& b = s.b;
  const Type t = s.i.type();
  const ir::Operand &d = s.i.ops[0], &a = s.i.ops[1];
  using Kind = ir::Operand::Kind;
  V v;
  if (a.kind == Kind::Vector) {
    const u32 n = isa::bits_of(t) / static_cast<u32>(a.elems.size());
    for (u32 k = 0; k < a.elems.size(); ++k) {
      V part = b.zext(b.read(a.elems[k], untyped(n)), isa::bits_of(t));
      part = k ? b.bin(Bin::Shl, part, imm32(b, k * n)) : part;
      v = v ? b.or_(v, part) : part;
    }
  } else {
    v = b.read(a, t);
  }
  if (d.kind != Kind::Vector) return s.out(0, v);
  const u32 n = isa::bits_of(t) / static_cast<u32>(d.elems.size());
  for (u32 k = 0; k < d.elems.size(); ++k) b.write(d.elems[k], element(b, v, n, k));
}

void sem_cvta(const Sem& s) {
  V a = s.b.zext(s.in(1), 64);
  s.out(0, s.b.resize(s.b.to_generic(space_of(s), a), isa::bits_of(s.i.type()), false));
}
void sem_cvta_to(const Sem& s) {
  V a = s.b.zext(s.in(1), 64);
  s.out(0, s.b.resize(s.b.from_generic(space_of(s), a), isa::bits_of(s.i.type()), false));
}
void sem_isspacep(const Sem& s) { s.out(0, s.b.in_space(space_of(s), s.in(1, Type::b64)), Type::pred); }

// mapa d, a, b: the address in CTA b of the cluster that corresponds to shared address a
void sem_mapa(const Sem& s) {
  Builder& b = s.b;
  V a = s.in(1), rank = s.in(2, Type::u32);
  const u32 w = b.width(a);
  const bool generic = !s.has(Tok::shared_cluster);
  V base = generic ? b.resize(shared_window(b), w, false) : b.imm(w, 0);
  V within = b.and_(b.sub(a, base), b.imm(w, kStride - 1));
  s.out(0, b.add(base, b.add(within, b.mul(b.zext(rank, w), b.imm(w, kStride)))));
}
void sem_getctarank(const Sem& s) {
  Builder& b = s.b;
  V a = s.in(1);
  if (!s.has(Tok::shared_cluster)) a = b.sub(a, b.resize(shared_window(b), b.width(a), false));
  s.out(0, b.resize(b.bin(Bin::UDiv, a, b.imm(b.width(a), kStride)), 32, false), Type::u32);
}

}  // namespace us::codegen
