// SPDX-License-Identifier: Apache-2.0
#include "driver/code/decisions.h"

#include <algorithm>

#include "isa/isa.h"
#include "isa/operands.h"

namespace us::driver {
namespace {

using ir::Inst, ir::Operand;
using isa::Form;

constexpr u32 kMostBlocks = 16;

bool is_literal(const Operand& o, bool but_zero) { return o.kind == Operand::Kind::Imm && (!but_zero || o.imm != 0); }

// Operand k of this instruction decides what it answers, whatever the other operands are.
bool passes_on(const Inst& i, std::size_t k) {
  if (i.has(isa::Tok::sat)) return false;
  switch (isa::info(i.form).carry) {
    case isa::kCarriesNothing:
      return false;
    case isa::kCarries:
      return true;
    case isa::kCarriesTimes:
      return k == 3 || is_literal(i.ops[3 - k], true);
    case isa::kCarriesShifted:
      return k == 1 && is_literal(i.ops[2], false);
  }
  return false;
}

// A choice between two values is decided by its predicate where they cannot be the same.
bool chooses(const Inst& i, std::size_t k) {
  if (i.form != Form::selp || k != 3) return false;
  return is_literal(i.ops[1], false) && is_literal(i.ops[2], false) && i.ops[1].imm != i.ops[2].imm;
}

// Follows registers from one instruction on, as far as all lanes of it go.
class Forwards {
 public:
  Forwards(const ir::Function& f, const Inst& from) : f_(f) {
    for (const ir::Block& b : f.blocks) {
      if (b.insts.empty() || &from < b.insts.data() || &from >= b.insts.data() + b.insts.size()) continue;
      block_ = &b, next_ = static_cast<std::size_t>(&from - b.insts.data()) + 1;
    }
  }
  void take(const Operand& o) {
    if (o.kind == Operand::Kind::Value && o.value.valid()) take(o.value);
  }
  void take(ir::ValueId v) { held_.push_back(v.v); }
  bool holds(const Operand& o) const {
    const bool read = o.kind == Operand::Kind::Value || o.kind == Operand::Kind::Address;
    return read && o.value.valid() && std::ranges::find(held_, o.value.v) != held_.end();
  }
  bool any() const { return !held_.empty(); }
  void drop(ir::ValueId v) { std::erase(held_, v.v); }
  // look(Inst) and at_end(Terminator) return a site, or kNoSite to go on.
  template <class Look, class End>
  u32 go(Look&& look, End&& at_end) {
    for (u32 n = 0; block_ && n < kMostBlocks && any(); ++n) {
      for (; next_ < block_->insts.size(); ++next_) {
        const Inst& i = block_->insts[next_];
        if (!i.call.empty() || i.form == Form::Unknown) return ir::kNoSite;
        if (const u32 site = look(i); site != ir::kNoSite) return site;
      }
      const ir::Terminator& t = block_->term;
      if (t.kind != ir::Terminator::Kind::Br) return at_end(t);
      block_ = &f_.blocks[t.targets[0].v], next_ = 0;
      for (const ir::Phi& p : block_->phis) drop(p.dest);
    }
    return ir::kNoSite;
  }

 private:
  const ir::Function& f_;
  const ir::Block* block_ = nullptr;
  std::size_t next_ = 0;
  std::vector<u32> held_;
};

bool reads_and_writes(const Inst& i) { return (isa::info(i.form).effects & isa::kAtomic) != 0; }

bool stores(const Inst& i) { return i.form == Form::st && i.ops.size() > 1; }

// What it leaves in memory depends on all that was there.
bool computes_with_memory(const Inst& i) {
  using isa::Tok;
  return reads_and_writes(i) && (i.has(Tok::add) || i.has(Tok::inc) || i.has(Tok::dec) || i.has(Tok::min) ||
                                 i.has(Tok::max) || i.has(Tok::cas));
}

bool loads(const Inst& i) { return isa::info(i.form).effects & isa::kLoad && !reads_and_writes(i) && !i.ops.empty(); }

// At the addresses of all lanes that execute it. (Asynchronous copies may be told to read nothing.)
bool of_memory(const Inst& i) {
  const u32 effects = isa::info(i.form).effects;
  return effects & (isa::kLoad | isa::kStore | isa::kAtomic) && !(effects & (isa::kConvergent | isa::kCopy));
}

}  // namespace

namespace {

// Is the value only moved and stored, wherever it goes?
bool only_copied(const ir::Function& f, const Operand& answer) {
  if (answer.kind != Operand::Kind::Value) return false;
  std::vector<u32> copies{answer.value.v};
  const auto is_copy = [&](const Operand& o) {
    return o.value.valid() && std::ranges::find(copies, o.value.v) != copies.end();
  };
  for (std::size_t before = 0; before != copies.size();) {
    before = copies.size();
    for (const ir::Block& b : f.blocks) {
      for (const ir::Phi& p : b.phis)
        if (std::ranges::any_of(p.in, is_copy)) return false;
      for (const Inst& i : b.insts) {
        u32 uses = 0, stored = 0;
        ir::for_each_use(i, [&](const Operand& o) { uses += is_copy(o); });
        if (!uses) continue;
        const bool moves = i.form == Form::mov && i.guard.kind == Operand::Kind::None;
        if (moves && i.ops[0].kind == Operand::Kind::Value && i.ops[1].kind == Operand::Kind::Value) {
          if (!is_copy(i.ops[0])) copies.push_back(i.ops[0].value.v);
          continue;
        }
        if (stores(i)) ir::for_each_use_operand(i.ops[1], [&](const Operand& o) { stored += is_copy(o); });
        if (stored != uses) return false;
      }
      if (is_copy(b.term.cond)) return false;
    }
  }
  return true;
}

}  // namespace

Consequence consequence_of(const ir::Function& f, const Inst& from, u32 element) {
  Consequence out;
  if (from.guard.kind != Operand::Kind::None || from.ops.empty()) return out;
  if (computes_with_memory(from)) {
    out.decides = from.site;
    return out;
  }
  if (!ir::answers_of(from)) return out;
  Forwards walk(f, from);
  Operand answer = from.ops[0];
  if (answer.kind == Operand::Kind::Vector) {
    if (element >= answer.elems.size()) return out;
    answer = Operand(answer.elems[element]);
  }
  walk.take(answer);
  if (!only_copied(f, answer)) out.stored.emplace_back(ir::kNoSite, 0);
  const auto look = [&](const Inst& i) {
    const bool always = i.guard.kind == Operand::Kind::None;
    u32 on = 0, held = 0;
    for (std::size_t k = ir::answers_of(i); k < i.ops.size() && always; ++k) {
      const Operand& o = i.ops[k];
      if (!walk.holds(o)) continue;
      if (of_memory(i) && (o.kind == Operand::Kind::Address || reads_and_writes(i))) return i.site;
      if (stores(i)) out.stored.emplace_back(i.site, 0);
      ++held, on += passes_on(i, k) || chooses(i, k);
    }
    if (always && stores(i) && i.ops[1].kind == Operand::Kind::Vector)
      for (u32 e = 0; e < i.ops[1].elems.size(); ++e)
        if (walk.holds(i.ops[1].elems[e])) out.stored.emplace_back(i.site, e);
    ir::for_each_def(i, [&](ir::ValueId v) { walk.drop(v); });
    if (on && held == 1) walk.take(i.ops[0]);  // two may cancel each other
    return ir::kNoSite;
  };
  const auto at_end = [&](const ir::Terminator& t) {
    return t.kind == ir::Terminator::Kind::CondBr && walk.holds(t.cond) ? t.site : ir::kNoSite;
  };
  out.decides = walk.go(look, at_end);
  return out;
}

namespace {

// The least or the greatest of all: a lane's value that may be anything may be that.
bool compares(const Inst& i) {
  const std::string_view id = isa::info(i.form).id;
  return id.starts_with("min_") || id.starts_with("max_");
}

// Registers whose values one answer decides, whatever else they are made of. Only those count that are written in one
// place: then who executes a use has executed that before it. The answer's own may be written elsewhere, where nobody
// comes who has the answer.
class Decided {
 public:
  Decided(const ir::Function& f, const Inst& from) : written_(f.regs.size()) {
    const ir::ValueId answer = from.ops[0].value;
    for (const ir::Block& b : f.blocks) {
      for (const ir::Phi& p : b.phis) written_[p.dest.v]++;
      for (const Inst& i : b.insts) ir::for_each_def(i, [&](ir::ValueId v) { written_[v.v]++; });
    }
    if (written_[answer.v] != 1 && written_behind(f, from, answer)) return;
    held_.push_back(answer.v);
    for (std::size_t before = 0; before != held_.size();) {
      before = held_.size();
      for (const ir::Block& b : f.blocks)
        for (const Inst& i : b.insts) follow(i);
    }
  }
  bool holds(const Operand& o) const {
    return o.kind == Operand::Kind::Value && o.value.valid() && std::ranges::find(held_, o.value.v) != held_.end();
  }

 private:
  void follow(const Inst& i) {
    if (i.guard.kind != Operand::Kind::None || i.ops.empty() || i.ops[0].kind != Operand::Kind::Value) return;
    if (holds(i.ops[0]) || written_[i.ops[0].value.v] != 1) return;
    u32 on = 0, held = 0;
    for (std::size_t k = ir::answers_of(i); k < i.ops.size(); ++k)
      if (holds(i.ops[k])) ++held, on += passes_on(i, k) || chooses(i, k) || compares(i);
    if (on && held == 1) held_.push_back(i.ops[0].value.v);  // two may cancel each other
  }
  // Does a way lead from there to another place that writes it?
  static bool written_behind(const ir::Function& f, const Inst& from, ir::ValueId answer) {
    const auto writes = [&](const Inst& i) {
      bool any = false;
      ir::for_each_def(i, [&](ir::ValueId v) { any = any || v.v == answer.v; });
      return any;
    };
    const auto own = std::ranges::find_if(f.blocks, [&](const ir::Block& b) {
      return !b.insts.empty() && &from >= b.insts.data() && &from < b.insts.data() + b.insts.size();
    });
    if (own == f.blocks.end()) return true;
    if (std::any_of(&from + 1, own->insts.data() + own->insts.size(), writes)) return true;
    std::vector<bool> seen(f.blocks.size());
    std::vector<const ir::Block*> left{&*own};
    while (!left.empty()) {
      const ir::Block* const b = left.back();
      left.pop_back();
      for (const ir::BlockId t : b->term.targets) {
        if (seen[t.v]) continue;
        seen[t.v] = true, left.push_back(&f.blocks[t.v]);
        for (const Inst& i : left.back()->insts)
          if (&i != &from && writes(i)) return true;
      }
    }
    return false;
  }
  std::vector<u32> written_;  // in how many places
  std::vector<u32> held_;
};

}  // namespace

Carried carried_by(const ir::Function& f, const Inst& from) {
  Carried out;
  if (from.guard.kind != Operand::Kind::None || from.ops.empty()) return out;
  if (from.form != Form::shfl_sync && !loads(from)) return out;
  if (from.ops[0].kind != Operand::Kind::Value || !from.ops[0].value.valid()) return out;
  const Decided on(f, from);
  for (const ir::Block& b : f.blocks) {
    for (const Inst& i : b.insts) {
      if (i.form == Form::shfl_sync && on.holds(i.ops[2])) out.shuffled.push_back(i.site);
      if (stores(i) && on.holds(i.ops[1])) out.stored.emplace_back(i.site, 0);
      if (stores(i) && i.ops[1].kind == Operand::Kind::Vector)
        for (u32 e = 0; e < i.ops[1].elems.size(); ++e)
          if (on.holds(Operand(i.ops[1].elems[e]))) out.stored.emplace_back(i.site, e);
      if (reads_and_writes(i) && std::any_of(i.ops.begin() + static_cast<std::ptrdiff_t>(ir::answers_of(i)),
                                             i.ops.end(), [&](const Operand& o) { return on.holds(o); }))
        out.stored.emplace_back(i.site, 0);
    }
  }
  return out;
}

u32 left_by(const ir::Function& f, const ir::Terminator& leaves) {
  const auto own = std::ranges::find_if(f.blocks, [&](const ir::Block& b) { return &b.term == &leaves; });
  if (own == f.blocks.end() || !own->insts.empty()) return leaves.site;
  const u32 number = static_cast<u32>(own - f.blocks.begin());
  u32 site = ir::kNoSite, branches = 0;
  for (const ir::Block& b : f.blocks) {
    if (b.term.kind != ir::Terminator::Kind::CondBr ||
        std::ranges::none_of(b.term.targets, [&](ir::BlockId t) { return t.v == number; }))
      continue;
    site = b.term.site, ++branches;
  }
  return branches == 1 && site != ir::kNoSite ? site : leaves.site;
}

u32 taken_for_members(const ir::Function& f, const Inst& from) {
  if (from.form != Form::activemask || from.guard.kind != Operand::Kind::None) return ir::kNoSite;
  Forwards itself(f, from), made_of(f, from);
  itself.take(from.ops[0]), made_of.take(from.ops[0]);
  const auto look = [&](const Inst& i) {
    const auto& specs = isa::operands_of(i.form);
    if (specs.membermask >= 0 && itself.holds(i.ops[static_cast<std::size_t>(specs.membermask)])) {
      if (i.form == Form::bar_warp_sync) return i.site;
      if (i.form == Form::shfl_sync && !made_of.holds(i.ops[3])) return i.site;
    }
    bool on = false;
    for (std::size_t k = ir::answers_of(i); k < i.ops.size(); ++k) on |= made_of.holds(i.ops[k]);
    const bool moved = i.form == Form::mov && i.guard.kind == Operand::Kind::None && itself.holds(i.ops[1]);
    ir::for_each_def(i, [&](ir::ValueId v) {
      itself.drop(v);
      on ? made_of.take(v) : made_of.drop(v);
    });
    if (moved) itself.take(i.ops[0]);
    return ir::kNoSite;
  };
  return itself.go(look, [](const ir::Terminator&) { return ir::kNoSite; });
}

}  // namespace us::driver
