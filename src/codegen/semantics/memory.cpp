// SPDX-License-Identifier: Apache-2.0
// ld, st, atom, red and the cache hints, which change nothing but time.
#include "codegen/semantics/memory.h"

namespace us::codegen {

using isa::Space;

isa::Space space_of(const Sem& s) {
  if (s.has(Tok::global)) return Space::Global;
  if (s.has(Tok::shared) || s.has(Tok::shared_cta)) return Space::Shared;
  if (s.has(Tok::shared_cluster)) return Space::SharedCluster;
  if (s.has(Tok::local)) return Space::Local;
  if (s.has(Tok::const_)) return Space::Const;
  if (s.has(Tok::param) || s.has(Tok::param_entry) || s.has(Tok::param_func)) return Space::Param;
  return Space::Generic;
}
Order order_of(const Sem& s, Order otherwise) {
  if (s.has(Tok::volatile_)) return Order::Volatile;
  if (s.has(Tok::relaxed)) return Order::Relaxed;
  if (s.has(Tok::acquire)) return Order::Acquire;
  if (s.has(Tok::release)) return Order::Release;
  if (s.has(Tok::acq_rel)) return Order::AcqRel;
  if (s.has(Tok::sc)) return Order::SeqCst;
  return otherwise;
}
Scope scope_of(const Sem& s, Scope otherwise) {
  if (s.has(Tok::cta)) return Scope::Cta;
  if (s.has(Tok::cluster)) return Scope::Cluster;
  if (s.has(Tok::gpu) || s.has(Tok::gl)) return Scope::Gpu;
  if (s.has(Tok::sys)) return Scope::Sys;
  return otherwise;
}

device::NoteCode fence_note(device::FenceKind kind, Order order, Scope scope) {
  return {.fence = kind, .order = static_cast<probe::Order>(order), .scope = static_cast<probe::Scope>(scope)};
}

probe::Space probe_space(Space s) {
  switch (s) {
    case Space::Shared:
    case Space::SharedCluster:
      return probe::Space::Shared;
    case Space::Local:
      return probe::Space::Local;
    case Space::Const:
      return probe::Space::Const;
    case Space::Param:
      return probe::Space::Param;
    default:
      return probe::Space::Global;
  }
}

namespace {
bool is_shared(Space s) { return s == Space::Shared || s == Space::SharedCluster; }
bool is_entry_parameter(const ir::Module& m, ir::SymId id) {
  const ir::Symbol& sym = m.symbols[id.v];
  if (!sym.func.valid()) return false;
  const ir::Function& f = m.functions[sym.func.v];
  if (!f.entry) return false;
  for (const ir::Param& p : f.params)
    if (p.sym == id) return true;
  return false;
}
ir::Operand base_register(const ir::Operand& o) {
  ir::Operand r;
  r.kind = ir::Operand::Kind::Value;
  r.value = o.value;
  return r;
}
}  // namespace

MemRef reference(const Sem& s, u32 k, Space space, u32 bits, u32 count) {
  Builder& b = s.b;
  const ir::Operand& o = s.i.ops[k];
  MemRef m;
  m.space = space;
  m.offset = o.imm;
  m.bits = bits;
  m.count = count;
  m.align = bits / 8 * count;
  if (o.value.valid()) {
    m.addr = b.read(base_register(o), is_shared(space) ? Type::b32 : Type::b64);
    m.base = o.value;
  } else if (o.sym.valid() && space == Space::Param) {
    m.param = o.sym;
    m.param_of_function = !is_entry_parameter(b.module(), o.sym);
    if (!m.param_of_function) m.offset += static_cast<i64>(b.module().symbols[o.sym.v].offset);
  } else if (o.sym.valid()) {
    V a = b.symbol_address(o.sym, 0);
    m.addr = is_shared(space) ? b.resize(a, 32, false) : a;
  }
  return m;
}
V address(const Sem& s, u32 k) {
  Builder& b = s.b;
  const ir::Operand& o = s.i.ops[k];
  if (o.kind == ir::Operand::Kind::Value) return b.read(o, Type::b64);
  V a = o.value.valid() ? b.read(base_register(o), Type::b64)
        : o.sym.valid() ? b.symbol_address(o.sym, 0)
                        : b.imm(64, 0);
  return o.imm ? b.add(a, b.imm(64, static_cast<u64>(o.imm))) : a;
}
V shared_offset(const Sem& s, u32 k, bool generic) {
  V a = address(s, k);
  const ir::Operand& o = s.i.ops[k];
  const bool symbol = !o.value.valid() && o.sym.valid();  // a shared variable by name is an offset already
  if (generic && !symbol) a = s.b.from_generic(Space::SharedCluster, a);
  return s.b.resize(a, 32, false);
}

namespace {
u32 vector_count(const Sem& s) { return s.has(Tok::v2) ? 2 : s.has(Tok::v4) ? 4 : s.has(Tok::v8) ? 8 : 1; }
MemRef memory_operand(const Sem& s, u32 k) {
  MemRef m = reference(s, k, space_of(s), isa::bits_of(s.i.type()), vector_count(s));
  m.order = order_of(s, Order::Weak);
  m.scope = scope_of(s, Scope::Sys);
  m.nc = s.has(Tok::nc);
  return m;
}
}  // namespace

void sem_ld(const Sem& s) {
  Builder& b = s.b;
  const Type t = s.i.type();
  const MemRef m = memory_operand(s, 1);
  V v[8];
  b.load(m, {v, m.count});
  const ir::Operand& d = s.i.ops[0];
  if (d.kind != ir::Operand::Kind::Vector) return s.out(0, v[0]);
  for (u32 k = 0; k < m.count; ++k) write_extended(b, d.elems[k], v[k], t);
}
void sem_st(const Sem& s) {
  const MemRef m = memory_operand(s, 0);
  const ir::Operand& a = s.i.ops[1];
  V v[8];
  if (a.kind != ir::Operand::Kind::Vector)
    v[0] = s.in(1);
  else
    for (u32 k = 0; k < m.count; ++k) v[k] = s.b.read(a.elems[k], s.i.type());
  s.b.store(m, {v, m.count});
}

namespace {
AtomOp atomic_op(const Sem& s) {
  const bool f = isa::is_float(s.i.type()) || is_half(s.i.type());
  if (s.has(Tok::add)) return f ? AtomOp::FAdd : AtomOp::Add;
  if (s.has(Tok::min)) return f ? AtomOp::FMin : AtomOp::Min;
  if (s.has(Tok::max)) return f ? AtomOp::FMax : AtomOp::Max;
  if (s.has(Tok::and_)) return AtomOp::And;
  if (s.has(Tok::or_)) return AtomOp::Or;
  if (s.has(Tok::xor_)) return AtomOp::Xor;
  if (s.has(Tok::inc)) return AtomOp::Inc;
  if (s.has(Tok::dec)) return AtomOp::Dec;
  if (s.has(Tok::exch)) return AtomOp::Exch;
  US_CHECK(s.has(Tok::cas));
  return AtomOp::Cas;
}
// The read-modify-write of operand k with operands k+1 (and k+2); vectors are one atomic per element.
void atomic(const Sem& s, u32 k, const ir::Operand* dest) {
  Builder& b = s.b;
  const Type t = s.i.type();
  const ir::Operand& a = s.i.ops[k + 1];
  const bool vector = a.kind == ir::Operand::Kind::Vector;
  MemRef m = reference(s, k, space_of(s), isa::bits_of(t), 1);
  m.order = order_of(s, Order::Relaxed);
  m.scope = scope_of(s, Scope::Gpu);
  const u32 n = vector ? static_cast<u32>(a.elems.size()) : 1;
  m.align *= n;
  for (u32 e = 0; e < n; ++e, m.offset += m.bits / 8, m.align = 0) {
    const ir::Operand* d = dest && dest->kind == ir::Operand::Kind::Vector ? &dest->elems[e] : dest;
    const bool used = d && d->kind != ir::Operand::Kind::Sink;
    V x = b.read(vector ? a.elems[e] : a, t), y = s.has(Tok::cas) ? s.in(k + 2) : V{};
    V old = b.atomic(atomic_op(s), t, m, x, y, used);
    if (used) write_extended(b, *d, old, t);
  }
}
}  // namespace
void sem_atom(const Sem& s) { atomic(s, 1, &s.i.ops[0]); }
void sem_red(const Sem& s) { atomic(s, 0, nullptr); }

// Cache hints: no effect on results.
void sem_cache_hint(const Sem& s) {
  using Kind = probe::Hint::Kind;
  using isa::Form;
  Builder& b = s.b;
  if (!b.listens()) return;
  const Form f = s.i.form;
  device::HintCode c;
  c.kind = f == Form::prefetchu            ? Kind::PrefetchUniform
           : f == Form::prefetch_tensormap ? Kind::PrefetchTensormap
           : f == Form::applypriority      ? Kind::ApplyPriority
           : f == Form::discard            ? Kind::Discard
                                           : Kind::Prefetch;
  const bool of_lines = c.kind == Kind::Prefetch || c.kind == Kind::PrefetchUniform;
  const Space space = space_of(s);
  if (space != Space::Generic) c.space = static_cast<u8>(probe_space(space));
  c.level = s.has(Tok::L1) ? 1 : c.kind == Kind::PrefetchTensormap ? 0 : 2;
  b.call_rt(device::RtFn::ProbeHint, {b.imm(64, c.pack()), address(s, 0), imm32(b, of_lines ? 0 : 128)}, {}, nullptr);
}
// A policy is an opaque value that only hints take; it is kept distinct from zero.
void sem_createpolicy(const Sem& s) { s.out(0, s.b.imm(64, 0x12f0000000000000ull), Type::b64); }

}  // namespace us::codegen
