// SPDX-License-Identifier: Apache-2.0
// wgmma: products of a warpgroup. They are made at issue, which is one of the orders that wgmma.wait_group allows: operands must not
// change before it, and accumulators must not be read.
#include "codegen/semantics/matrix.h"

namespace us::codegen {

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
  for (u32 r = 0; r < count; ++r) sum[r] = b.select(keep, sum[r], none);
  for (u32 t = 0; t < n / 8; ++t, ++code.tile) {
    V args[12] = {b.imm(64, code.pack()), a_at, b_at, a[0], a[1], a[2], a[3], meta}, r[4];
    const u32 bits[4] = {32, 32, 32, 32};
    for (u32 e = 0; e < each; ++e) args[8 + e] = sum[t * each + e];
    b.call_rt(device::RtFn::Wgmma, {args, 8 + each}, {bits, each}, r);
    for (u32 e = 0; e < each; ++e) sum[t * each + e] = r[e];
  }
  write_registers(s, 0, sum);
}
}  // namespace

void sem_wgmma(const Sem& s) { wgmma(s, {3, 4, 0, 0}); }
void sem_wgmma_popc(const Sem& s) { wgmma(s, {3, 0, 0, 0}); }
void sem_wgmma_sp(const Sem& s) { wgmma(s, {5, 6, 3, 4}); }
// Nothing is left to order or to wait for.
void sem_wgmma_order(const Sem&) {}

}  // namespace us::codegen
