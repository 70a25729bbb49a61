// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies that are not bulk copies.
#include "codegen/semantics/memory.h"

namespace us::codegen {

using device::RtFn;

// cp.async [d], [a], size, src-size or ignore-src (may be absent)
void sem_cp_async(const Sem& s) {
  Builder& b = s.b;
  V size = s.in(2, Type::u32), take = size;
  if (s.has_operand(3)) {
    const ir::Operand& o = s.i.ops[3];
    const bool predicate = o.kind == ir::Operand::Kind::Value && b.register_bits(o.value) == 1;
    take = predicate ? b.select(s.in(3, Type::pred), imm32(b, 0), size) : s.in(3, Type::u32);
  }
  const V to = shared_offset(s, 0, false), from = address(s, 1);
  if (s.i.ops[2].kind == ir::Operand::Kind::Imm) {
    MemRef m;
    m.bits = static_cast<u32>(s.i.ops[2].imm) * 8;
    m.space = isa::Space::Global, m.addr = from;
    b.touch(probe::RecordCode::Kind::CopyRead, m);
    m.space = isa::Space::Shared, m.addr = to;
    b.touch(probe::RecordCode::Kind::CopyWrite, m);
  }
  b.call_rt(RtFn::CpAsync, {to, from, size, take, imm32(b, s.has(Tok::cg))}, {}, nullptr);
}
void sem_cp_async_commit_group(const Sem& s) { s.b.call_rt(RtFn::CpAsyncCommit, {}, {}, nullptr); }
void sem_cp_async_wait_group(const Sem& s) { s.b.call_rt(RtFn::CpAsyncWait, {s.in(0, Type::u32)}, {}, nullptr); }
void sem_cp_async_wait_all(const Sem& s) { s.b.call_rt(RtFn::CpAsyncWait, {imm32(s.b, ~0u)}, {}, nullptr); }
void sem_cp_async_mbarrier_arrive(const Sem& s) {
  s.b.call_rt(RtFn::CpAsyncMbarArrive,
              {shared_offset(s, 0, space_of(s) == isa::Space::Generic), imm32(s.b, s.has(Tok::noinc))}, {}, nullptr);
}

}  // namespace us::codegen
