// SPDX-License-Identifier: Apache-2.0
#include "codegen/semantics/made_from.h"

#include <string_view>

#include "isa/isa.h"

namespace us::codegen {
namespace {

constexpr u32 kDeepest = 200;

using ir::Operand;

}  // namespace

MadeFrom::MadeFrom(const ir::Module& m, const ir::Function& f) : module_(m) {
  for (const ir::Block& b : f.blocks) {
    for (const ir::Phi& p : b.phis)
      for (const Operand& o : p.in)
        if (o.kind != Operand::Kind::None) choices_[p.dest.v].push_back(&o);
    for (const ir::Inst& i : b.insts) {
      std::size_t merged = 0;
      ir::for_each_def(const_cast<ir::Inst&>(i), [&](ir::ValueId v) {
        const Operand* const kept = merged < i.merge.size() ? &i.merge[merged] : nullptr;
        if (kept && kept->kind != Operand::Kind::None) choices_[v.v].push_back(kept);
        merged++;
      });
      const bool call = !i.call.empty();
      const std::size_t dests = i.form == isa::Form::Unknown || call ? i.ops.size() : isa::info(i.form).dests;
      const auto defines = [&](const Operand& o) {
        if (o.kind == Operand::Kind::Value) definitions_[o.value.v].push_back(&i);
        for (const Operand& e : o.elems)
          if (e.kind == Operand::Kind::Value) definitions_[e.value.v].push_back(&i);
      };
      for (std::size_t k = 0; k < dests && k < i.ops.size(); ++k) defines(i.ops[k]);
      if (call)
        for (const Operand& r : i.call[0].rets) defines(r);
    }
  }
}

ir::SymId MadeFrom::of(const ir::Inst& i) const {
  for (const Operand& o : i.ops) {
    if (o.kind != Operand::Kind::Address) continue;
    const Root r = of(o, 0);
    return r.kind == Root::Kind::One ? r.symbol : ir::SymId{};
  }
  return {};
}

MadeFrom::Root MadeFrom::both(const Root& a, const Root& b) {
  if (a.kind == Root::Kind::Itself && b.kind == Root::Kind::Itself) return {Root::Kind::Unknown, {}};
  if (a.kind == Root::Kind::None) return b;
  if (b.kind == Root::Kind::None) return a;
  return {Root::Kind::Unknown, {}};
}

MadeFrom::Root MadeFrom::either(const Root& a, const Root& b) {
  if (a.kind == Root::Kind::Itself) return b;
  if (b.kind == Root::Kind::Itself) return a;
  if (a.kind == b.kind && (a.kind != Root::Kind::One || a.symbol.v == b.symbol.v)) return a;
  return {Root::Kind::Unknown, {}};
}

MadeFrom::Root MadeFrom::of(const Operand& o, u32 depth) const {
  switch (o.kind) {
    case Operand::Kind::Symbol:
      return {Root::Kind::One, o.sym};
    case Operand::Kind::Address:
      if (o.value.valid()) return of(o.value, depth);
      return o.sym.valid() ? Root{Root::Kind::One, o.sym} : Root{};
    case Operand::Kind::Value:
      return of(o.value, depth);
    case Operand::Kind::Vector:
      return {Root::Kind::Unknown, {}};
    default:
      return {};
  }
}

// A register that is changed in a loop is made from what it began with, if all that sets it agrees.
MadeFrom::Root MadeFrom::of(ir::ValueId v, u32 depth) const {
  if (depth > kDeepest) return {Root::Kind::Unknown, {}};
  if (const auto at = known_.find(v.v); at != known_.end()) return at->second;
  const auto all = definitions_.find(v.v);
  const auto choices = choices_.find(v.v);
  if (all == definitions_.end() && choices == choices_.end()) return {Root::Kind::Unknown, {}};
  known_[v.v] = {Root::Kind::Itself, {}};
  Root r;
  bool first = true;
  const auto also = [&](const Root& one) { r = first ? one : either(r, one), first = false; };
  if (all != definitions_.end())
    for (const ir::Inst* i : all->second) also(made_by(*i, depth + 1));
  if (choices != choices_.end())
    for (const Operand* o : choices->second) also(of(*o, depth + 1));
  // Made from another that is being looked at: asked alone, the answer may be better.
  if (r.kind == Root::Kind::Itself) {
    known_.erase(v.v);
  } else {
    known_[v.v] = r;
  }
  return r;
}

MadeFrom::Root MadeFrom::made_by(const ir::Inst& i, u32 depth) const {
  if (i.form == isa::Form::Unknown || !i.call.empty()) return {Root::Kind::Unknown, {}};
  const std::string_view id = isa::info(i.form).id;
  const auto is = [&](std::string_view start) { return id.starts_with(start); };
  const auto op = [&](std::size_t k) { return k < i.ops.size() ? of(i.ops[k], depth) : Root{Root::Kind::Unknown, {}}; };
  if (id == "mov" || is("cvt_int_int") || is("cvta")) return op(1);
  if (is("add_int") || is("add_")) return both(op(1), op(2));
  if (is("and") || is("or") || is("xor")) return both(op(1), op(2));
  if (is("sub")) return op(2).kind == Root::Kind::None ? op(1) : Root{Root::Kind::Unknown, {}};
  if (is("selp")) return either(op(1), op(2));
  if (is("mad")) {
    const Root product = both(op(1), op(2));
    return product.kind == Root::Kind::None ? op(3) : Root{Root::Kind::Unknown, {}};
  }
  // What is read from memory is a number; what is computed otherwise is one if it comes from numbers.
  Root r;
  if (is("ld")) return r;
  for (std::size_t k = isa::info(i.form).dests; k < i.ops.size(); ++k) {
    if (of(i.ops[k], depth).kind != Root::Kind::None) return {Root::Kind::Unknown, {}};
  }
  return r;
}

}  // namespace us::codegen
