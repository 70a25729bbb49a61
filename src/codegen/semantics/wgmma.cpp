// SPDX-License-Identifier: Apache-2.0
// wgmma: products of a warpgroup. With eager delivery they are made at issue, which is one of the orders that
// wgmma.wait_group allows. Late, results come as late as it allows: late_results.h has given each instruction one
// operand more than its row says.
#include "codegen/semantics/matrix.h"

namespace us::codegen {

using device::RtFn;
using numerics::MmaType;

namespace {
// The operands of a form by their places; 0: the form has none.
struct Places {
  u32 predicate, immediates, metadata, selector;
};
void wgmma(const Sem& s, const Places& at) {
  Builder& b = s.b;
  device::MmaCode code{};
  code.d = code.c = mma_type(s.i.type(0)), code.a = mma_type(s.i.type(1)), code.b = mma_type(s.i.type(2));
  u32 m = 0, n = 0, k = 0;
  read_shape(s.i.toks, m, n, k);
  code.m = 16, code.k = static_cast<u16>(k);
  code.saturate = s.has(Tok::satfinite);
  code.sparse = at.metadata != 0;
  code.a_registers = s.i.ops[1].kind == ir::Operand::Kind::Vector;
  if (code.sparse) code.selector = static_cast<u8>(s.i.ops[at.selector].imm);
  if (at.immediates) {
    auto immediate = [&](u32 which) {
      return s.has_operand(at.immediates + which) ? s.i.ops[at.immediates + which].imm : 0;
    };
    code.negate_a = immediate(0) < 0, code.negate_b = immediate(1) < 0;
    code.a_column = !code.a_registers && immediate(2) != 0;
    code.b_row = immediate(code.a_registers ? 2 : 3) != 0;
  }
  const u32 last = static_cast<u32>(s.i.ops.size()) - 1;
  const std::vector<u32>& keys = s.i.late.keys;
  const bool late = code.late = s.i.late.named;
  V sum[128], a[4], none = b.imm(32, 0);
  const u32 count = read_registers(s, last, Type::b32, sum), each = code.c == MmaType::F16 ? 2 : 4;
  US_CHECK(count == n / 8 * each);
  V keep = s.in(at.predicate, Type::pred), a_at = b.imm(64, 0), b_at = s.in(2, Type::b64);
  for (V& v : a) v = none;
  if (code.a_registers)
    read_registers(s, 1, Type::b32, a);
  else
    a_at = s.in(1, Type::b64);
  V meta = code.sparse ? s.in(at.metadata, Type::b32) : none;
  code.tile = static_cast<u8>(n / 8);
  b.call_rt(RtFn::WgmmaIssue, {b.imm(64, code.pack()), a_at, b_at, a[0], a[1], a[2], a[3], meta}, {}, nullptr);
  for (u32 t = 0; t < n / 8; ++t) {
    code.tile = static_cast<u8>(t);
    V args[10] = {b.imm(64, code.pack())}, r[4];
    const u32 bits[4] = {32, 32, 32, 32};
    for (u32 e = 0; e < each; ++e) {
      V& old = sum[t * each + e];
      args[1 + e] = late ? old : b.select(keep, old, none);
      if (late) args[1 + each + e] = b.imm(64, keys[t * each + e]);
    }
    if (late) args[1 + 2 * each] = b.zext(keep, 64);
    b.call_rt(RtFn::Wgmma, {args, late ? 2 + 2 * each : 1 + each}, {bits, each}, r);
    for (u32 e = 0; e < each; ++e) sum[t * each + e] = r[e];
  }
  write_registers(s, 0, sum);
}
}  // namespace

void sem_wgmma(const Sem& s) { wgmma(s, {3, 4, 0, 0}); }
void sem_wgmma_popc(const Sem& s) { wgmma(s, {3, 0, 0, 0}); }
void sem_wgmma_sp(const Sem& s) { wgmma(s, {5, 6, 3, 4}); }
void sem_wgmma_fence(const Sem& s) {
  if (s.b.listens()) s.b.note({.fence = device::FenceKind::WgmmaFence});
}
void sem_wgmma_commit(const Sem& s) {
  if (s.i.late.named || s.b.listens()) s.b.call_rt(RtFn::WgmmaCommit, {}, {}, nullptr);
}
void sem_wgmma_wait(const Sem& s) {
  if (s.i.late.named || s.b.listens())
    s.b.call_rt(RtFn::WgmmaWait, {s.b.imm(64, static_cast<u64>(s.i.ops[0].imm))}, {}, nullptr);
}
void sem_wgmma_moved(const Sem& s) {
  auto key = [&](u32 k) { return s.b.imm(64, static_cast<u64>(s.i.ops[k].imm)); };
  s.b.call_rt(RtFn::WgmmaMoved, {key(0), key(1)}, {}, nullptr);
}
void sem_wgmma_results(const Sem& s) {
  constexpr u32 n = 8;
  V args[2 * n], r[n];
  u32 bits[n];
  const std::vector<ir::Operand>& keys = s.i.ops[2].elems;
  for (u32 k = 0; k < n; ++k) {
    const bool there = k < keys.size();
    args[k] = s.b.imm(64, there ? static_cast<u64>(keys[k].imm) : ~0u);
    args[n + k] = there ? s.b.read(s.i.ops[1].elems[k], Type::b32) : s.b.imm(64, 0);
    bits[k] = 32;
  }
  s.b.call_rt(RtFn::WgmmaResults, args, bits, r);
  for (u32 k = 0; k < keys.size(); ++k) s.b.write(s.i.ops[0].elems[k], r[k]);
}

}  // namespace us::codegen
