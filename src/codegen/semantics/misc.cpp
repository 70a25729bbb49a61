// SPDX-License-Identifier: Apache-2.0
// The stack of a thread; instructions without effect on results.
#include "codegen/semantics/common.h"

namespace us::codegen {

using device::RtFn;

// The stack of a thread: memory taken at run time. Functions give back what they took (the parser adds the
// instructions).
void sem_alloca(const Sem& s) {
  Builder& b = s.b;
  V align = s.has_operand(2) ? s.in(2, Type::u32) : imm32(b, 8), at;
  b.call_rt(RtFn::StackAlloc, {b.zext(s.in(1), 64), align}, {64}, &at);
  s.out(0, b.resize(at, isa::bits_of(s.i.type()), false));
}
void sem_stacksave(const Sem& s) {
  V at;
  s.b.call_rt(RtFn::StackSave, {}, {64}, &at);
  s.out(0, s.b.resize(at, isa::bits_of(s.i.type()), false));
}
void sem_stackrestore(const Sem& s) { s.b.call_rt(RtFn::StackRestore, {s.b.zext(s.in(0), 64)}, {}, nullptr); }

// Counters and register quotas have no effect on results.
void sem_pmevent(const Sem&) {}
void sem_setmaxnreg(const Sem& s) {
  if (!s.b.listens()) return;
  s.b.note({.what = device::NoteCode::What::RegisterPool,
            .flag = s.has(Tok::dec),
            .number = static_cast<u16>(s.i.ops[0].imm)});
}

}  // namespace us::codegen
