// SPDX-License-Identifier: Apache-2.0
#include "codegen/inline_calls.h"

#include <algorithm>
#include <set>

#include "codegen/waits.h"
#include "ir/cfg.h"

namespace us::codegen {
namespace {

using ir::Block;
using ir::BlockId;
using ir::Inst;
using ir::Operand;
using ir::Terminator;

constexpr std::size_t kMaxInsts = 30000;  // of the function that grows
constexpr std::size_t kMaxCopied = 200;   // instructions in all copies of a function but the first

// The function called directly, or ~0.
u32 callee_of(const ir::Module& m, const Inst& i) {
  if (i.call.empty() || !i.call[0].callee.valid()) return ~0u;
  ir::SymId id = i.call[0].callee;
  while (m.symbols[id.v].alias.valid()) id = m.symbols[id.v].alias;
  const ir::FuncId f = m.symbols[id.v].func;
  return f.valid() && m.functions[f.v].defined ? f.v : ~0u;
}

bool waits_itself(const ir::Function& f) {
  bool spins = false;
  for (const Block& b : f.blocks)
    for (const Inst& i : b.insts) {
      if (i.form == isa::Form::Unknown) continue;
      if (isa::info(i.form).effects & (isa::kConvergent | isa::kYield)) return true;
      spins = spins || is_spin(i);
    }
  if (!spins) return false;
  for (u32 b = 0; b < f.blocks.size(); ++b)  // a loop needs an edge that does not go forward
    for (BlockId t : f.blocks[b].term.targets)
      if (t.v <= b) return true;
  return false;
}

Inst access(const char* mnemonic, Operand first, Operand second, const SrcLoc& loc) {
  const isa::Match m = isa::match(mnemonic);
  Inst i;
  i.form = m.form;
  i.toks = m.toks;
  i.types = m.types;
  i.type_count = m.type_count;
  i.ops.resize(3);
  i.ops[0] = std::move(first);
  i.ops[1] = std::move(second);
  i.loc = loc;
  return i;
}

// Direct and possible indirect calls of waiting functions in f, with repetitions.
std::vector<u32> waiting_callees(const ir::Module& m, const std::vector<u8>& waiting, const ir::Function& f) {
  std::vector<u32> out;
  for (const Block& b : f.blocks)
    for (const Inst& i : b.insts) {
      if (is_indirect(i))
        for (u32 t : waiting_targets(m, waiting, i)) out.push_back(t);
      const u32 callee = callee_of(m, i);
      if (callee != ~0u && waiting[callee]) out.push_back(callee);
    }
  return out;
}

// Functions that f would copy again and again, but for those that can come to themselves.
std::set<u32> functions_to_share(const ir::Module& m, const std::vector<u8>& waiting, const ir::Function& f) {
  std::map<u32, std::vector<u32>> calls;
  std::map<u32, std::set<u32>> reach;
  std::vector<u32> todo = waiting_callees(m, waiting, f);
  while (!todo.empty()) {
    const u32 g = todo.back();
    todo.pop_back();
    if (calls.count(g)) continue;
    calls[g] = waiting_callees(m, waiting, m.functions[g]);
    reach[g] = {calls[g].begin(), calls[g].end()};
    todo.insert(todo.end(), calls[g].begin(), calls[g].end());
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [g, set] : reach)
      for (u32 h : std::vector<u32>(set.begin(), set.end()))
        for (u32 x : reach[h]) changed |= set.insert(x).second;
  }
  std::map<u32, u64> copies;  // callers first: a function is counted when all that reach it are
  for (u32 g : waiting_callees(m, waiting, f)) ++copies[g];
  std::vector<u32> order;
  for (auto& [g, set] : reach) order.push_back(g);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return reach[a].size() > reach[b].size(); });
  std::set<u32> shared;
  for (u32 g : order) {
    std::size_t insts = 0;
    for (const Block& b : m.functions[g].blocks) insts += b.insts.size();
    const bool again = reach[g].count(g);
    if (!again && copies[g] > 1 && (copies[g] - 1) * insts > kMaxCopied) {
      shared.insert(g);
      copies[g] = 1;
    }
    if (again) continue;
    for (u32 h : calls[g]) copies[h] = std::min<u64>(copies[h] + copies[g], 1u << 20);
  }
  return shared;
}

class Inliner {
 public:
  Inliner(const ir::Module& m, const std::vector<u8>& waiting, ir::Function& f, std::map<u32, u32>& local_shift,
          Bodies bodies)
      : m_(m), waiting_(waiting), f_(f), local_shift_(local_shift) {
    for (const Block& b : f.blocks) insts_ += b.insts.size();
    if (bodies == Bodies::Shared) one_body_ = functions_to_share(m, waiting, f);
  }

  void run() {
    within_.resize(f_.blocks.size());
    for (u32 b = 0; b < f_.blocks.size(); ++b)
      for (std::size_t k = 0; k < f_.blocks[b].insts.size(); ++k) {
        if (is_indirect(f_.blocks[b].insts[k]) && !sorted_.count(b) && sort_targets(b, k)) break;
        const u32 callee = callee_of(m_, f_.blocks[b].insts[k]);
        if (callee == ~0u || !waiting_[callee] || within_[b].count(callee)) continue;
        const bool share = one_body_.count(callee);
        if (insts_ > kMaxInsts && !share) continue;
        if (share)
          enter_shared(b, k, m_.functions[callee], callee);
        else
          expand(b, k, m_.functions[callee], callee);
        break;
      }
    for (auto& [id, body] : shared_) {
      Terminator& t = f_.blocks[body.exit].term;
      if (t.targets.size() == 1) t = jump_to(t.targets[0].v, t.loc);
    }
  }

 private:
  Operand new_register(u32 bits) {
    f_.regs.push_back(bits == 64   ? ir::Width::B64
                      : bits == 1  ? ir::Width::Pred
                      : bits == 16 ? ir::Width::B16
                      : bits == 8  ? ir::Width::B8
                                   : ir::Width::B32);
    Operand o;
    o.kind = Operand::Kind::Value;
    o.value = ir::ValueId{static_cast<u32>(f_.regs.size() - 1)};
    return o;
  }
  static Operand at(ir::SymId sym, u32 byte) {
    Operand o;
    o.kind = Operand::Kind::Address;
    o.sym = sym;
    o.imm = byte;
    return o;
  }
  bool is_param(const Operand& o) const {
    return o.kind == Operand::Kind::Symbol && m_.symbols[o.sym.v].space == isa::Space::Param;
  }

  void copy_param(std::vector<Inst>& out, ir::SymId from, ir::SymId to, u32 size, const SrcLoc& loc) {
    for (u32 byte = 0; byte < size; byte += 4) {
      const Operand word = new_register(32);
      out.push_back(access("ld.param.b32", word, at(from, byte), loc));
      out.push_back(access("st.param.b32", at(to, byte), word, loc));
    }
  }
  static const char* store_of(u32 bits) {
    return bits == 64 ? "st.param.b64" : bits == 16 ? "st.param.b16" : bits == 8 ? "st.param.b8" : "st.param.b32";
  }
  static const char* load_of(u32 bits) {
    return bits == 64 ? "ld.param.b64" : bits == 16 ? "ld.param.b16" : bits == 8 ? "ld.param.b8" : "ld.param.b32";
  }

  // Ends block b before its instruction k, which is returned; what follows it moves to block `rest`.
  Inst cut(u32 b, std::size_t k, u32 rest) {
    Block& head = f_.blocks[b];
    Block& tail = f_.blocks[rest];
    Inst call = std::move(head.insts[k]);
    tail.insts.assign(std::make_move_iterator(head.insts.begin() + static_cast<std::ptrdiff_t>(k) + 1),
                      std::make_move_iterator(head.insts.end()));
    tail.term = std::move(head.term);
    within_[rest] = within_[b];
    head.insts.resize(k);
    return call;
  }

  void expand(u32 b, std::size_t k, const ir::Function& callee, u32 id) {
    const u32 first = static_cast<u32>(f_.blocks.size()), rest = first + static_cast<u32>(callee.blocks.size());
    f_.blocks.resize(rest + 1);
    within_.resize(rest + 1);
    const Inst call = cut(b, k, rest);
    std::set<u32> within = within_[b];
    within.insert(id);
    copy_body(callee, id, within, first, rest);
    std::vector<Inst> in, out;
    pass(call, callee, in, out);
    if (call.guard.kind == Operand::Kind::None) {
      f_.blocks[b].term = jump_to(first, call.loc);
      append(b, in);
      f_.blocks[rest].insts.insert(f_.blocks[rest].insts.begin(), out.begin(), out.end());
      return;
    }
    const u32 leave = around(b, first, rest, call, std::move(in), std::move(out));
    for (u32 x = first; x < rest; ++x)
      for (BlockId& t : f_.blocks[x].term.targets)
        if (t.v == rest) t.v = leave;
  }

  void enter_shared(u32 b, std::size_t k, const ir::Function& callee, u32 id) {
    auto [it, is_new] = shared_.try_emplace(id);
    Shared& body = it->second;
    if (is_new) {
      body.first = static_cast<u32>(f_.blocks.size());
      body.exit = body.first + static_cast<u32>(callee.blocks.size());
      f_.blocks.resize(body.exit + 1);
      within_.resize(body.exit + 1);
      copy_body(callee, id, {id}, body.first, body.exit);
      body.site = new_register(32);
      Terminator& t = f_.blocks[body.exit].term;
      t.kind = Terminator::Kind::Switch;
      t.cond = body.site;
      t.loc = callee.blocks.back().term.loc;
    }
    const u32 rest = static_cast<u32>(f_.blocks.size());
    f_.blocks.resize(rest + 1);
    within_.resize(rest + 1);
    const Inst call = cut(b, k, rest);
    std::vector<Inst> in, out;
    pass(call, callee, in, out);
    Operand number;
    number.kind = Operand::Kind::Imm;
    number.imm = static_cast<i64>(f_.blocks[body.exit].term.targets.size());
    in.push_back(access("mov.u32", body.site, number, call.loc));
    in.back().ops.resize(2);
    u32 after = rest;
    if (call.guard.kind == Operand::Kind::None) {
      f_.blocks[b].term = jump_to(body.first, call.loc);
      append(b, in);
      f_.blocks[rest].insts.insert(f_.blocks[rest].insts.begin(), out.begin(), out.end());
    } else {
      after = around(b, body.first, rest, call, std::move(in), std::move(out));
    }
    f_.blocks[body.exit].term.targets.push_back(BlockId{after});
  }

  void append(u32 b, const std::vector<Inst>& insts) {
    f_.blocks[b].insts.insert(f_.blocks[b].insts.end(), insts.begin(), insts.end());
  }

  // Arguments go into the parameters before the body, results out of them behind it; a call that is jumped over does neither.
  void pass(const Inst& call, const ir::Function& callee, std::vector<Inst>& in, std::vector<Inst>& out) {
    const Inst::Call& c = call.call[0];
    for (std::size_t a = 0; a < c.args.size() && a < callee.params.size(); ++a) {
      const ir::Param& p = callee.params[a];
      if (is_param(c.args[a]))
        copy_param(in, c.args[a].sym, p.sym, p.size, call.loc);
      else
        in.push_back(access(store_of(isa::bits_of(p.type)), at(p.sym, 0), c.args[a], call.loc));
    }
    for (std::size_t r = 0; r < c.rets.size() && r < callee.rets.size(); ++r) {
      const ir::Param& p = callee.rets[r];
      if (is_param(c.rets[r]))
        copy_param(out, p.sym, c.rets[r].sym, p.size, call.loc);
      else if (c.rets[r].kind == Operand::Kind::Value)
        out.push_back(access(load_of(isa::bits_of(p.type)), c.rets[r], at(p.sym, 0), call.loc));
    }
  }

  // @p call: b ─p─► arguments ─► body ─► results ─► rest, or straight to rest. The block with the results.
  u32 around(u32 b, u32 first, u32 rest, const Inst& call, std::vector<Inst> in, std::vector<Inst> out) {
    const u32 enter = static_cast<u32>(f_.blocks.size()), leave = enter + 1;
    f_.blocks.resize(leave + 1);
    within_.resize(leave + 1);
    within_[enter] = within_[leave] = within_[b];
    f_.blocks[enter].insts = std::move(in);
    f_.blocks[enter].term = jump_to(first, call.loc);
    f_.blocks[leave].insts = std::move(out);
    f_.blocks[leave].term = jump_to(rest, call.loc);
    f_.blocks[b].term = fork(call.guard, enter, rest, call.loc);
    return leave;
  }

  // An indirect call whose target may wait: a direct call of each such function, for the lanes whose target it is.
  //
  //   head ─► target == f? ─no─► target == g? ─no─► the indirect call
  //              │ yes              │ yes                │
  //              ▼                  ▼                    ▼
  //            call f ───────────► rest ◄─────────────────
  bool sort_targets(u32 b, std::size_t k) {
    std::vector<u32> targets;
    for (u32 f : waiting_targets(m_, waiting_, f_.blocks[b].insts[k]))
      if (!within_[b].count(f)) targets.push_back(f);
    if (targets.empty() || insts_ > kMaxInsts) return false;
    const u32 first = static_cast<u32>(f_.blocks.size()), n = static_cast<u32>(targets.size());
    const u32 last = first + 2 * n, rest = last + 1;  // first + 2 t: the test for target t, then its call
    f_.blocks.resize(rest + 1);
    within_.resize(rest + 1, within_[b]);
    Block& head = f_.blocks[b];
    const Inst call = std::move(head.insts[k]);
    f_.blocks[rest].insts.assign(std::make_move_iterator(head.insts.begin() + static_cast<std::ptrdiff_t>(k) + 1),
                                 std::make_move_iterator(head.insts.end()));
    f_.blocks[rest].term = std::move(head.term);
    head.insts.resize(k);
    head.term =
        call.guard.kind == Operand::Kind::None ? jump_to(first, call.loc) : fork(call.guard, first, rest, call.loc);
    for (u32 t = 0; t < n; ++t) {
      Block& test = f_.blocks[first + 2 * t];
      Block& yes = f_.blocks[first + 2 * t + 1];
      Operand function;
      function.kind = Operand::Kind::Symbol;
      function.sym = m_.functions[targets[t]].sym;
      const Operand address = new_register(64), same = new_register(1);
      test.insts.push_back(access("mov.u64", address, function, call.loc));
      test.insts.back().ops.resize(2);
      test.insts.push_back(access("setp.eq.u64", same, Operand{}, call.loc));
      test.insts.back().ops = {same, Operand{}, call.call[0].target, address};
      test.term = fork(same, first + 2 * t + 1, first + 2 * t + 2, call.loc);
      yes.insts.push_back(call);
      yes.insts.back().guard = Operand{};
      yes.insts.back().call[0].callee = function.sym;
      yes.insts.back().call[0].target = Operand{};
      yes.term = jump_to(rest, call.loc);
    }
    f_.blocks[last].insts.push_back(call);
    f_.blocks[last].insts.back().guard = Operand{};
    f_.blocks[last].term = jump_to(rest, call.loc);
    sorted_.insert(last);
    return true;
  }

  static Terminator jump_to(u32 to, const SrcLoc& loc) {
    Terminator t;
    t.kind = Terminator::Kind::Br;
    t.targets = {BlockId{to}};
    t.loc = loc;
    return t;
  }
  static Terminator fork(const Operand& cond, u32 yes, u32 no, const SrcLoc& loc) {
    Terminator t;
    t.kind = Terminator::Kind::CondBr;
    t.cond = cond;
    t.targets = {BlockId{yes}, BlockId{no}};
    t.loc = loc;
    return t;
  }

  void copy_body(const ir::Function& callee, u32 id, const std::set<u32>& within, u32 first, u32 rest) {
    const u32 base = static_cast<u32>(f_.regs.size());
    f_.regs.insert(f_.regs.end(), callee.regs.begin(), callee.regs.end());
    auto renumber = [&](Operand& o, auto& self) -> void {
      if (o.value.valid()) o.value.v += base;
      for (Operand& e : o.elems) self(e, self);
    };
    auto fix = [&](Operand& o) { renumber(o, renumber); };
    for (u32 x = 0; x < callee.blocks.size(); ++x) {
      Block& to = f_.blocks[first + x];
      to = callee.blocks[x];
      to.preds.clear();
      within_[first + x] = within;
      for (Inst& i : to.insts) {
        for (Operand& o : i.ops) fix(o);
        fix(i.guard);
        for (auto& c : i.call) {
          fix(c.target);
          for (Operand& o : c.args) fix(o);
          for (Operand& o : c.rets) fix(o);
        }
      }
      fix(to.term.cond);
      for (BlockId& t : to.term.targets) t.v += first;
      if (to.term.kind == Terminator::Kind::Ret) {
        to.term.kind = Terminator::Kind::Br;
        to.term.targets = {BlockId{rest}};
      }
      insts_ += to.insts.size();
    }
    // Lanes are in one instance at a time: all share one frame.
    if (!callee.local_bytes || !framed_.insert(id).second) return;
    f_.local_bytes = (f_.local_bytes + 15) / 16 * 16;
    for (u32 s = 0; s < m_.symbols.size(); ++s)
      if (m_.symbols[s].space == isa::Space::Local && m_.symbols[s].func.v == id) local_shift_[s] = f_.local_bytes;
    f_.local_bytes += callee.local_bytes;
  }

  const ir::Module& m_;
  const std::vector<u8>& waiting_;
  ir::Function& f_;
  std::map<u32, u32>& local_shift_;
  std::vector<std::set<u32>> within_;  // by block: functions whose bodies it stands in
  struct Shared {
    u32 first = 0, exit = 0;  // blocks
    Operand site;
  };
  std::set<u32> one_body_;
  std::map<u32, Shared> shared_;
  std::set<u32> framed_;
  std::set<u32> sorted_;  // blocks of indirect calls that are left for targets which never wait
  std::size_t insts_ = 0;
};

}  // namespace

bool is_indirect(const Inst& i) { return !i.call.empty() && !i.call[0].callee.valid(); }

std::vector<u32> address_taken_functions(const ir::Module& m) {
  std::vector<u32> taken;
  std::vector<u8> seen(m.functions.size(), 0);
  auto take = [&](ir::SymId s) {
    if (!s.valid()) return;
    const ir::Symbol& sym = m.symbols[s.v];
    if (sym.kind != ir::Symbol::Kind::Function || !sym.func.valid()) return;
    if (m.functions[sym.func.v].entry || seen[sym.func.v]++) return;
    taken.push_back(sym.func.v);
  };
  for (const ir::Symbol& s : m.symbols)
    for (const auto& r : s.relocs) take(r.sym);
  for (const ir::Function& f : m.functions)
    for (const Block& b : f.blocks)
      for (const Inst& i : b.insts)
        for (const Operand& o : i.ops) {
          if (o.kind == Operand::Kind::Symbol) take(o.sym);
          for (const Operand& e : o.elems)
            if (e.kind == Operand::Kind::Symbol) take(e.sym);
        }
  return taken;
}

std::vector<u32> waiting_targets(const ir::Module& m, const std::vector<u8>& waiting, const Inst& call) {
  std::vector<u32> targets;
  if (std::find(waiting.begin(), waiting.end(), u8{1}) == waiting.end()) return targets;
  for (u32 f : address_taken_functions(m)) {
    const ir::Function& g = m.functions[f];
    if (waiting[f] && g.params.size() == call.call[0].args.size() && g.rets.size() == call.call[0].rets.size())
      targets.push_back(f);
  }
  return targets;
}

std::vector<u8> waiting_functions(const ir::Module& m) {
  std::vector<u8> waits(m.functions.size(), 0);
  for (u32 f = 0; f < m.functions.size(); ++f) waits[f] = waits_itself(m.functions[f]);
  for (bool changed = true; changed;) {
    changed = false;
    for (u32 f = 0; f < m.functions.size(); ++f)
      for (const Block& b : m.functions[f].blocks)
        for (const Inst& i : b.insts) {
          const u32 callee = callee_of(m, i);
          if (waits[f] || i.call.empty()) continue;
          if (is_indirect(i) ? waiting_targets(m, waits, i).empty() : callee == ~0u || !waits[callee]) continue;
          waits[f] = 1;
          changed = true;
        }
  }
  return waits;
}

void inline_waiting_calls(const ir::Module& m, const std::vector<u8>& waiting, ir::Function& f,
                          std::map<u32, u32>& local_shift, Bodies bodies) {
  Inliner(m, waiting, f, local_shift, bodies).run();
}

}  // namespace us::codegen
