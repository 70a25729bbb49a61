// SPDX-License-Identifier: Apache-2.0
#include "driver/code/tokens.h"

#include "isa/isa.h"

namespace us::driver {
namespace {

using ir::Inst, ir::Operand, isa::Form;

constexpr u32 kSteps = 8;  // of copies
constexpr std::size_t kState = 2;

bool arrives(const Inst& i) {
  switch (i.form) {
    case Form::mbarrier_arrive:
    case Form::mbarrier_arrive_expect_tx:
    case Form::mbarrier_arrive_no_complete:
    case Form::mbarrier_arrive_drop:
    case Form::mbarrier_arrive_drop_expect_tx:
    case Form::mbarrier_arrive_drop_no_complete:
      return true;
    default:
      return false;
  }
}

// Null: several instructions write it, or none.
const Inst* only_writer(const ir::Function& f, ir::ValueId v) {
  const Inst* writer = nullptr;
  for (const ir::Block& b : f.blocks) {
    for (const ir::Phi& p : b.phis)
      if (p.dest == v) return nullptr;
    for (const Inst& i : b.insts) {
      bool writes = false;
      ir::for_each_def(i, [&](ir::ValueId d) { writes |= d == v; });
      if (writes && writer) return nullptr;
      if (writes) writer = &i;
    }
  }
  return writer;
}

}  // namespace

u32 token_of(const ir::Function& f, const Inst& test) {
  if (test.form != Form::mbarrier_test_wait && test.form != Form::mbarrier_try_wait) return ir::kNoSite;
  const Operand* o = &test.ops[kState];
  for (u32 step = 0; step < kSteps; ++step) {
    if (o->kind != Operand::Kind::Value) return ir::kNoSite;
    const Inst* const i = only_writer(f, o->value);
    if (!i || i->guard.kind != Operand::Kind::None) return ir::kNoSite;
    if (arrives(*i)) return i->site;
    if (i->form != Form::mov) return ir::kNoSite;
    o = &i->ops[1];
  }
  return ir::kNoSite;
}

}  // namespace us::driver
