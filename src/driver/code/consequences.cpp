// SPDX-License-Identifier: Apache-2.0
#include "driver/code/consequences.h"

#include <algorithm>

#include "isa/isa.h"

namespace us::driver {
namespace {

using ir::Operand;

template <class F>
void each_register(const Operand& o, F&& f) {
  if (o.value.valid() && (o.kind == Operand::Kind::Value || o.kind == Operand::Kind::Address)) f(o.value);
  for (const Operand& e : o.elems) each_register(e, f);
}

bool only_computes(const ir::Inst& i) { return ir::answers_of(i) > 0 && isa::info(i.form).effects == isa::kPure; }

}  // namespace

Consequences::Consequences(const ir::Function& f) {
  for (const ir::Block& b : f.blocks) {
    for (const ir::Inst& i : b.insts) {
      ir::for_each_use(i, [&](const Operand& o) { uses_[o.value.v].by.push_back(&i); });
    }
    each_register(b.term.cond, [&](ir::ValueId v) { uses_[v.v].elsewhere = true; });
  }
}

bool Consequences::matters(ir::ValueId v, std::vector<u32>& seen) const {
  if (std::ranges::find(seen, v.v) != seen.end()) return false;
  seen.push_back(v.v);
  const auto at = uses_.find(v.v);
  if (at == uses_.end()) return false;
  if (at->second.elsewhere) return true;
  for (const ir::Inst* i : at->second.by) {
    if (!only_computes(*i)) return true;
    for (std::size_t k = 0; k < ir::answers_of(*i); ++k) {
      bool on = false;
      each_register(i->ops[k], [&](ir::ValueId r) { on |= matters(r, seen); });
      if (on) return true;
    }
  }
  return false;
}

bool Consequences::ignored(const ir::Inst& i) const {
  bool answers = false, on = false;
  std::vector<u32> seen;
  for (std::size_t k = 0; k < ir::answers_of(i); ++k) {
    each_register(i.ops[k], [&](ir::ValueId v) { answers = true, on |= matters(v, seen); });
  }
  return answers && !on;
}

}  // namespace us::driver
