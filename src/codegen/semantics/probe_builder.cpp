// SPDX-License-Identifier: Apache-2.0
// From accesses to calls of RtFn::ProbeAccess.
#include "codegen/probe_builder.h"

#include <optional>

namespace us::codegen {

using device::AccessCode;
using isa::Space;
using Kind = probe::Access::Kind;
using probe::RecordCode;

namespace {

constexpr u32 kMostValues = 8;

u8 code_of(Space s) {
  switch (s) {
    case Space::Global:
      return static_cast<u8>(probe::Space::Global);
    case Space::Shared:
    case Space::SharedCluster:
      return static_cast<u8>(probe::Space::Shared);
    case Space::Local:
      return static_cast<u8>(probe::Space::Local);
    case Space::Const:
      return static_cast<u8>(probe::Space::Const);
    default:
      return AccessCode::kGeneric;
  }
}
AccessCode code_of(Kind kind, const MemRef& m) {
  AccessCode c;
  c.kind = kind;
  c.space = code_of(m.space);
  c.order = static_cast<probe::Order>(m.order);
  c.scope = static_cast<probe::Scope>(m.scope);
  if (c.space == static_cast<u8>(probe::Space::Global)) c.detail = m.nc;
  c.bytes = static_cast<u8>(m.bits / 8), c.count = static_cast<u8>(m.count);
  return c;
}
// If it is an ordinary access
std::optional<probe::QuickAccess> quick_form(AccessCode c) {
  const u32 bytes = u32{c.bytes} * c.count;
  const bool shared = c.space == static_cast<u8>(probe::Space::Shared);
  if (!shared && c.space != static_cast<u8>(probe::Space::Global)) return {};
  if (c.kind == Kind::Atomic || c.order != probe::Order::Weak || c.bytes % 4) return {};
  if (bytes != 4 && bytes != 8 && bytes != 16) return {};
  return probe::QuickAccess{
      .bytes = static_cast<u8>(bytes), .write = c.kind == Kind::Write, .shared = shared, .detail = c.detail};
}
probe::Access::Sum sum_of(isa::Type t) {
  using Sum = probe::Access::Sum;
  switch (t) {
    case isa::Type::f16:
      return Sum::F16;
    case isa::Type::bf16:
      return Sum::BF16;
    case isa::Type::f16x2:
      return Sum::F16x2;
    case isa::Type::bf16x2:
      return Sum::BF16x2;
    case isa::Type::f32:
      return Sum::F32;
    case isa::Type::f64:
      return Sum::F64;
    default:
      return Sum::None;
  }
}
// Parameters, and constants at places that the program's text names.
bool is_fixed(const MemRef& m) { return m.space == Space::Param || (m.space == Space::Const && !m.base.valid()); }

static_assert(static_cast<u8>(Order::SeqCst) == static_cast<u8>(probe::Order::SeqCst));
static_assert(static_cast<u8>(Scope::Sys) == static_cast<u8>(probe::Scope::Sys));

}  // namespace

V ProbeBuilder::equal(V a, V b) {
  const u32 bits = to_.width(a);
  if (bits <= 64) return to_.icmp(ICmp::Eq, a, to_.resize(b, bits, false));
  const auto high = [&](V v) { return to_.resize(to_.bin(Bin::LShr, v, to_.imm(32, 64)), 64, false); };
  return to_.and_(to_.icmp(ICmp::Eq, to_.resize(a, 64, false), to_.resize(b, 64, false)),
                  to_.icmp(ICmp::Eq, high(a), high(b)));
}

// 64 bits; of shared memory, within 32.
V ProbeBuilder::address_of(const MemRef& m) {
  V at = m.addr ? to_.resize(m.addr, code_of(m.space) == static_cast<u8>(probe::Space::Shared) ? 32 : 64, false)
                : to_.imm(64, 0);
  if (m.offset) at = to_.add(at, to_.imm(to_.width(at), static_cast<u64>(m.offset)));
  return to_.resize(at, 64, false);
}

void ProbeBuilder::touch(RecordCode::Kind kind, const MemRef& m) {
  if (!records_ || site_ == ir::kNoSite || m.space == Space::Param) return;
  const u8 space = code_of(m.space);
  RecordCode code{.kind = kind, .bytes = m.bits / 8 * m.count, .looks = looks_};
  if (space != AccessCode::kGeneric) {
    code.space = static_cast<probe::Space>(space);
    return to_.record(site_, code, address_of(m));
  }
  to_.note_site(site_);
  to_.call_rt(device::RtFn::ProbeRecord, {to_.imm(64, code.pack()), address_of(m)}, {}, nullptr);
}

void ProbeBuilder::tell(AccessCode code, const MemRef& m, std::span<const V> rows) {
  V args[2 + kMostValues];
  const V at = address_of(m);
  to_.note_site(site_);
  if (to_.closed()) return;
  if (code.space == static_cast<u8>(probe::Space::Shared) && !code.sums()) code.detail = static_cast<u8>(to_.settled());
  const auto say = [&] {
    args[0] = to_.imm(64, code.pack());
    args[1] = at;
    for (std::size_t k = 0; k < rows.size(); ++k) args[2 + k] = to_.resize(rows[k], 64, false);
    to_.call_rt(device::RtFn::ProbeAccess, {args, 2 + rows.size()}, {}, nullptr);
  };
  const auto ask = [&] {
    if (const auto quick = quick_form(code)) return to_.unless_quick(site_, *quick, at, say);
    say();
  };
  if (code.space == static_cast<u8>(probe::Space::Shared) && code.detail && !code.sums())
    return to_.unless_settled(u32{code.bytes} * code.count, at, ask);
  ask();
}

void ProbeBuilder::tell(Kind kind, const MemRef& m, std::span<const V> values) {
  if (is_fixed(m)) return;
  AccessCode code = code_of(kind, m);
  const bool known = !values.empty() && m.bits <= 64 && values.size() <= kMostValues;
  if (known) code.values = static_cast<u8>(values.size());
  tell(code, m, known ? values : std::span<const V>{});
}

void ProbeBuilder::tell_atomic(const MemRef& m, V old, V wrote, V addend, isa::Type t) {
  AccessCode code = code_of(Kind::Atomic, m);
  code.values = m.bits <= 64;
  const probe::Access::Sum sum = addend ? sum_of(t) : probe::Access::Sum::None;
  const bool sums = sum != probe::Access::Sum::None;
  if (sums) code.detail = static_cast<u8>(AccessCode::kSum | static_cast<u8>(sum));
  const V rows[] = {old, to_.resize(wrote, 64, false), addend};
  tell(code, m, {rows, sums ? 3u : 2u});
}

}  // namespace us::codegen
