// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/operands.h"

namespace us::ir {
namespace {

using Kind = Operand::Kind;
using Want = isa::OperandSpec::Want;

constexpr std::size_t kMostComplaints = 20;

// Numbers that tables are asked with.
bool is_printable(const Operand& o) {
  return o.kind <= Kind::Sink && o.sreg < isa::SReg::Count && o.comp < 8 &&
         std::ranges::all_of(o.elems, [](const Operand& e) { return is_printable(e); });
}
bool is_printable(const Inst& i) {
  const auto all = [](const std::vector<Operand>& list) {
    return std::ranges::all_of(list, [](const Operand& o) { return is_printable(o); });
  };
  const auto calls = [&](const Inst::Call& c) { return all(c.args) && all(c.rets) && is_printable(c.target); };
  return i.form < isa::Form::Count && i.type_count <= i.types.size() &&
         std::ranges::all_of(i.types, [](isa::Type t) { return t < isa::Type::Count; }) && all(i.ops) && all(i.merge) &&
         all(i.roots) && is_printable(i.guard) && std::ranges::all_of(i.call, calls);
}

bool has_row(const Inst& i) { return i.form != isa::Form::Unknown && i.form < isa::Form::Count; }

isa::Type wanted_type(const isa::OperandSpec& s, const Inst& i) {
  const isa::Type t = i.types[s.index < i.types.size() ? s.index : 0];
  if (s.want == Want::Fixed) return s.type;
  if (s.want == Want::Indexed) return t;
  if (s.want != Want::Wide) return isa::Type::None;
  return isa::bits_of(i.types[0]) == 16 ? isa::Type::b32 : isa::Type::b64;
}

class Verifier {
 public:
  Verifier(const Module& m, const Function& f, const Cfg* cfg) : m_(m), f_(f), given_(cfg) {}

  std::vector<Diag> run() {
    if (f_.blocks.empty()) {
      if (f_.defined) complain("a function without blocks");
      return std::move(found_);
    }
    if (f_.ssa && f_.origin.size() != f_.regs.size()) complain("`origin` has not one entry per value");
    for (block_ = 0; block_ < f_.blocks.size(); ++block_) judge_block(f_.blocks[block_]);
    where_ = nullptr;
    if (!found_.empty()) return std::move(found_);  // what follows takes ids for granted
    cfg_ = analyze_cfg(f_, true);
    if (given_) judge_cfg();
    if (f_.ssa) judge_ssa();
    return std::move(found_);
  }

 private:
  void complain(const std::string& what) {
    if (found_.size() >= kMostComplaints) return;
    std::string place = fmt::format("{}: block{}", f_.name, block_);
    SrcLoc loc;
    if (where_) {
      place += fmt::format(": `{}`", is_printable(*where_) ? to_text(m_, *where_) : "?");
      loc = where_->loc;
    }
    found_.push_back({Diag::Kind::Error, loc, place + ": " + what});
  }
  void expect(bool right, const char* what) {
    if (!right) complain(what);
  }

  bool known(ValueId v) const { return v.v < f_.regs.size(); }
  bool known(SymId s) const { return s.v < m_.symbols.size(); }
  Width width(ValueId v) const { return f_.regs[v.v]; }

  // --- instructions

  void judge_ids(const Operand& o) {
    if (o.value.valid() && !known(o.value)) complain(fmt::format("no register %{}", o.value.v));
    if (o.sym.valid() && !known(o.sym)) complain(fmt::format("no symbol {}", o.sym.v));
    if (o.kind == Kind::Value && !o.value.valid()) complain("a register without number");
    if (o.kind == Kind::Symbol && !o.sym.valid()) complain("a symbol without number");
    expect(o.elems.empty() || o.kind == Kind::Vector, "elements of what is no vector");
    for (const Operand& e : o.elems) {
      expect(e.kind != Kind::Vector && e.kind != Kind::Address,
             "a vector of something else than registers and literals");
      judge_ids(e);
    }
  }

  void judge_width(const isa::OperandSpec& s, const Inst& i, const Operand& o) {
    if (o.kind == Kind::Vector && (i.form == isa::Form::mov || !s.vector)) return;
    for (const Operand& e : o.elems) judge_width(s, i, e);
    if (o.kind != Kind::Value || o.comp || !known(o.value)) return;
    const u32 have = bits_of(width(o.value));
    if (s.want == Want::AnyAddress) return expect(have == 32 || have == 64, "an address of neither 32 nor 64 bits");
    const isa::Type want = wanted_type(s, i);
    if (want == isa::Type::None) return;
    const u32 bits = isa::bits_of(want);
    const bool predicate = want == isa::Type::pred;
    const bool fits =
        predicate == (have == 1) && (s.wider ? have >= bits : have == bits || (bits <= 8 && have >= bits));
    if (!fits) complain(fmt::format("%{} has {} bits where {} are wanted", o.value.v, have, isa::name_of(want)));
  }

  void judge_operand(const isa::OperandSpec& s, const Inst& i, const Operand& o) {
    const bool may_miss = s.optional || !s.present_if.empty() || s.want == Want::AnyAddress;
    if (o.kind == Kind::None) return expect(may_miss, "an operand is missing that is not optional");
    if (s.dest) {
      const auto place = [](const Operand& d) { return d.kind == Kind::Value || d.kind == Kind::Sink; };
      const bool all = o.kind == Kind::Vector ? std::ranges::all_of(o.elems, place) : place(o);
      expect(all, "a destination that is no register");
    }
    if (s.address && o.kind != Kind::Sink) expect(o.kind == Kind::Address, "an address in [ ] is wanted");
    judge_width(s, i, o);
  }

  void judge_call(const Inst::Call& c) {
    if (c.callee.valid()) {
      if (!known(c.callee)) return complain("a call of no symbol");
      expect(m_.symbols[c.callee.v].kind == Symbol::Kind::Function || m_.symbols[c.callee.v].alias.valid(),
             "a call of what is no function");
    } else {
      judge_ids(c.target);
    }
    expect(c.proto == ~0u || c.proto < m_.protos.size(), "no such prototype");
    for (const Operand& o : c.args) judge_ids(o);
    for (const Operand& o : c.rets) judge_ids(o);
  }

  void judge_inst(const Inst& i) {
    where_ = &i;
    if (i.form >= isa::Form::Count) return complain("no such row");
    if (!is_printable(i)) return complain("no such type, special register or kind of operand");
    expect(i.call.size() <= 1, "more than one call");
    expect((i.form == isa::Form::Unknown) == !i.text.empty(),
           "the text of what has a row, or none for what has no row");
    for (const Operand& o : i.ops) judge_ids(o);
    for (const Operand& o : i.merge) judge_ids(o);
    for (const Operand& o : i.roots) {
      judge_ids(o);
      expect(o.kind == Kind::Value && f_.ssa, "a root is a value of SSA form");
    }
    for (const Inst::Call& c : i.call) judge_call(c);
    judge_ids(i.guard);
    if (i.guard.kind == Kind::Value && known(i.guard.value))
      expect(width(i.guard.value) == Width::Pred, "a guard that is no predicate");
    else
      expect(i.guard.kind == Kind::None || (f_.ssa && i.guard.kind == Kind::Imm), "a guard that is no register");
    if (!has_row(i)) return;
    const auto& specs = isa::operands_of(i.form).specs;
    if (i.call.empty() && i.ops.size() != specs.size())
      return complain(fmt::format("{} operands, {} in the row", i.ops.size(), specs.size()));
    for (std::size_t k = 0; k < specs.size() && i.call.empty(); ++k) judge_operand(specs[k], i, i.ops[k]);
    if (found_.empty()) judge_merge(i);
    expect(i.late.keys.empty() || (i.late.named && !i.ops.empty() && i.ops[0].elems.size() == i.late.keys.size()),
           "keys of late results: one for each destination");
  }

  void judge_merge(const Inst& i) {
    if (!f_.ssa || i.guard.kind == Kind::None) {
      // A guard that turned out to be a literal keeps what it merges.
      return expect(i.merge.empty(), "`merge` of an instruction without guard");
    }
    std::size_t k = 0;
    for_each_def(i, [&](ValueId d) {
      const Operand* m = k < i.merge.size() ? &i.merge[k] : nullptr;
      ++k;
      if (m && m->kind == Kind::Value) expect(width(m->value) == width(d), "`merge` of another width");
    });
    expect(k == i.merge.size() || i.guard.kind == Kind::Imm, "not one `merge` entry per definition");
  }

  // --- blocks

  void judge_block(const Block& b) {
    for (const Phi& p : b.phis) {
      where_ = nullptr;
      expect(f_.ssa, "a phi in register form");
      if (!known(p.dest)) complain("a phi without register");
      for (const Operand& o : p.in) judge_ids(o);
    }
    for (const Inst& i : b.insts) judge_inst(i);
    where_ = nullptr;
    judge_end(b.term);
  }

  void judge_end(const Terminator& t) {
    using End = Terminator::Kind;
    const std::size_t n = t.targets.size();
    const bool right = t.kind == End::Br       ? n == 1
                       : t.kind == End::CondBr ? n == 2
                       : t.kind == End::Switch ? n > 0
                                               : n == 0;
    expect(right, "the wrong number of targets");
    for (BlockId id : t.targets)
      if (id.v >= f_.blocks.size()) complain(fmt::format("no block{}", id.v));
    judge_ids(t.cond);
    const bool decides = t.kind == End::CondBr || t.kind == End::Switch;
    expect(decides == (t.cond.kind != Kind::None), "a condition where nothing is decided, or none where something is");
    if (!decides || t.cond.kind != Kind::Value || !known(t.cond.value)) return;
    expect(width(t.cond.value) == (t.kind == End::CondBr ? Width::Pred : Width::B32), "a condition of the wrong width");
  }

  // --- the whole

  void judge_cfg() {
    block_ = 0;
    expect(given_->succs == cfg_.succs && given_->preds == cfg_.preds, "the Cfg is of other edges");
    expect(given_->rpo == cfg_.rpo && given_->idom == cfg_.idom,
           "the Cfg's order or dominators are of another function");
  }

  struct Def {
    u32 block = Cfg::kNone;
    std::size_t at = 0;  // 0: a phi; k + 1: instruction k
  };
  void define(ValueId v, std::size_t at) {
    if (defs_[v.v].block != Cfg::kNone) complain(fmt::format("%{} is defined twice", v.v));
    defs_[v.v] = {block_, at};
  }
  // A use before instruction `at` of the block.
  void use(const Operand& o, u32 block, std::size_t at, bool reaches = true) {
    if (!o.value.valid()) return;
    const Def& d = defs_[o.value.v];
    if (d.block == Cfg::kNone) return complain(fmt::format("%{} is used, but never defined", o.value.v));
    if (!reaches) return;
    if (d.block == block ? d.at >= at && d.at : !cfg_.dominates(d.block, block))
      complain(fmt::format("%{} is used where its definition in block{} does not reach", o.value.v, d.block));
  }

  void judge_ssa() {
    defs_.assign(f_.regs.size(), {});
    for (block_ = 0; block_ < f_.blocks.size(); ++block_) {
      const Block& b = f_.blocks[block_];
      for (const Phi& p : b.phis) define(p.dest, 0);
      for (std::size_t k = 0; k < b.insts.size(); ++k) {
        where_ = &b.insts[k];
        for_each_def(b.insts[k], [&](ValueId v) { define(v, k + 1); });
      }
      where_ = nullptr;
    }
    for (block_ = 0; block_ < f_.blocks.size(); ++block_) judge_uses(f_.blocks[block_]);
  }

  void judge_uses(const Block& b) {
    if (cfg_.rpo_index[block_] == Cfg::kNone) return complain("a block that nothing leads to");
    const auto& preds = cfg_.preds[block_];
    if (!std::ranges::equal(b.preds, preds, {}, [](BlockId id) { return id.v; }))
      return complain("`preds` are not the blocks that lead there");
    for (const Phi& p : b.phis) {
      if (p.in.size() != preds.size()) {
        complain(fmt::format("%{} = phi has {} inputs for {} predecessors", p.dest.v, p.in.size(), preds.size()));
        continue;
      }
      for (std::size_t k = 0; k < p.in.size(); ++k) {
        const Operand& o = p.in[k];
        use(o, preds[k], ~std::size_t{0});
        expect(o.kind == Kind::None || o.kind == Kind::Imm || o.kind == Kind::Value, "an input that is no value");
        expect(o.kind != Kind::Value || width(o.value) == width(p.dest), "a phi of several widths");
      }
    }
    for (std::size_t k = 0; k < b.insts.size(); ++k) {
      where_ = &b.insts[k];
      const auto& roots = b.insts[k].roots;
      for_each_use(b.insts[k], [&](const Operand& o) {
        const bool root = std::ranges::any_of(roots, [&](const Operand& r) { return &r == &o; });
        use(o, block_, k + 1, !root);
      });
    }
    where_ = nullptr;
    use(b.term.cond, block_, ~std::size_t{0});
  }

  const Module& m_;
  const Function& f_;
  const Cfg* const given_;
  Cfg cfg_;
  u32 block_ = 0;
  const Inst* where_ = nullptr;
  std::vector<Def> defs_;
  std::vector<Diag> found_;
};

}  // namespace

std::vector<Diag> verify(const Module& m, const Function& f, const Cfg* cfg) { return Verifier(m, f, cfg).run(); }

}  // namespace us::ir
