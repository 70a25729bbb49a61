// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/inline_calls.h"

#include <algorithm>
#include <set>

#include "codegen/lower/waits.h"
#include "ir/cfg.h"
#include "ir/edit.h"

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
      if (t.targets.size() == 1) t = ir::jump(t.targets[0].v, t.loc);
    }
  }

 private:
  u32 add_blocks(u32 count, const std::set<u32>& within = {}) {
    within_.resize(within_.size() + count, within);
    return ir::add_blocks(f_, count);
  }
  bool is_param(const Operand& o) const {
    return o.kind == Operand::Kind::Symbol && m_.symbols[o.sym.v].space == isa::Space::Param;
  }

  void copy_param(std::vector<Inst>& out, ir::SymId from, ir::SymId to, u32 size, const SrcLoc& loc) {
    for (u32 byte = 0; byte < size; byte += 4) {
      const Operand word = ir::new_register(f_, ir::Width::B32);
      out.push_back(ir::make_inst("ld.param.b32", {word, ir::address(from, byte)}, loc));
      out.push_back(ir::make_inst("st.param.b32", {ir::address(to, byte), word}, loc));
    }
  }
  static const char* store_of(u32 bits) {
    return bits == 64 ? "st.param.b64" : bits == 16 ? "st.param.b16" : bits == 8 ? "st.param.b8" : "st.param.b32";
  }
  static const char* load_of(u32 bits) {
    return bits == 64 ? "ld.param.b64" : bits == 16 ? "ld.param.b16" : bits == 8 ? "ld.param.b8" : "ld.param.b32";
  }

  // Ends block b before its instruction k, which is returned; what follows it moves to block `rest`.
  Inst take(u32 b, std::size_t k, u32 rest) {
    ir::cut(f_, b, k + 1, rest);
    within_[rest] = within_[b];
    Inst call = std::move(f_.blocks[b].insts.back());
    f_.blocks[b].insts.pop_back();
    return call;
  }

  void expand(u32 b, std::size_t k, const ir::Function& callee, u32 id) {
    const u32 size = static_cast<u32>(callee.blocks.size()), first = add_blocks(size + 1), rest = first + size;
    const Inst call = take(b, k, rest);
    std::set<u32> within = within_[b];
    within.insert(id);
    copy_body(callee, id, within, first, rest);
    std::vector<Inst> in, out;
    pass(call, callee, in, out);
    if (call.guard.kind == Operand::Kind::None) {
      f_.blocks[b].term = ir::jump(first, call.loc);
      f_.blocks[b].term.site = call.site;
      ir::append(f_.blocks[b], std::move(in));
      ir::prepend(f_.blocks[rest], std::move(out));
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
      const u32 size = static_cast<u32>(callee.blocks.size());
      body.first = add_blocks(size + 1);
      body.exit = body.first + size;
      copy_body(callee, id, {id}, body.first, body.exit);
      body.site = ir::new_register(f_, ir::Width::B32);
      Terminator& t = f_.blocks[body.exit].term;
      t.kind = Terminator::Kind::Switch;
      t.cond = body.site;
      t.loc = callee.blocks.back().term.loc;
    }
    const u32 rest = add_blocks(1);
    const Inst call = take(b, k, rest);
    std::vector<Inst> in, out;
    pass(call, callee, in, out);
    const Operand number = ir::literal(static_cast<i64>(f_.blocks[body.exit].term.targets.size()));
    in.push_back(ir::make_inst("mov.u32", {body.site, number}, call.loc));
    u32 after = rest;
    if (call.guard.kind == Operand::Kind::None) {
      f_.blocks[b].term = ir::jump(body.first, call.loc);
      f_.blocks[b].term.site = call.site;
      ir::append(f_.blocks[b], std::move(in));
      ir::prepend(f_.blocks[rest], std::move(out));
    } else {
      after = around(b, body.first, rest, call, std::move(in), std::move(out));
    }
    f_.blocks[body.exit].term.targets.push_back(BlockId{after});
  }

  // Arguments go into the parameters before the body, results out of them behind it; a call that is jumped over does
  // neither.
  void pass(const Inst& call, const ir::Function& callee, std::vector<Inst>& in, std::vector<Inst>& out) {
    const Inst::Call& c = call.call[0];
    for (std::size_t a = 0; a < c.args.size() && a < callee.params.size(); ++a) {
      const ir::Param& p = callee.params[a];
      if (is_param(c.args[a]))
        copy_param(in, c.args[a].sym, p.sym, p.size, call.loc);
      else
        in.push_back(ir::make_inst(store_of(isa::bits_of(p.type)), {ir::address(p.sym, 0), c.args[a]}, call.loc));
    }
    for (std::size_t r = 0; r < c.rets.size() && r < callee.rets.size(); ++r) {
      const ir::Param& p = callee.rets[r];
      if (is_param(c.rets[r]))
        copy_param(out, p.sym, c.rets[r].sym, p.size, call.loc);
      else if (c.rets[r].kind == Operand::Kind::Value)
        out.push_back(ir::make_inst(load_of(isa::bits_of(p.type)), {c.rets[r], ir::address(p.sym, 0)}, call.loc));
    }
  }

  // @p call: b ─p─► arguments ─► body ─► results ─► rest, or straight to rest. The block with the results.
  u32 around(u32 b, u32 first, u32 rest, const Inst& call, std::vector<Inst> in, std::vector<Inst> out) {
    const u32 enter = add_blocks(2, std::set<u32>(within_[b])), leave = enter + 1;
    f_.blocks[enter].insts = std::move(in);
    f_.blocks[enter].term = ir::jump(first, call.loc);
    f_.blocks[enter].term.site = call.site;
    f_.blocks[leave].insts = std::move(out);
    f_.blocks[leave].term = ir::jump(rest, call.loc);
    f_.blocks[b].term = ir::fork(call.guard, enter, rest, call.loc);
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
    const u32 n = static_cast<u32>(targets.size()), first = add_blocks(2 * n + 2, std::set<u32>(within_[b]));
    const u32 last = first + 2 * n, rest = last + 1;  // first + 2 t: the test for target t, then its call
    const Inst call = take(b, k, rest);
    f_.blocks[b].term = call.guard.kind == Operand::Kind::None ? ir::jump(first, call.loc)
                                                               : ir::fork(call.guard, first, rest, call.loc);
    for (u32 t = 0; t < n; ++t) {
      Block& test = f_.blocks[first + 2 * t];
      Block& yes = f_.blocks[first + 2 * t + 1];
      Operand function;
      function.kind = Operand::Kind::Symbol;
      function.sym = m_.functions[targets[t]].sym;
      const Operand address = ir::new_register(f_, ir::Width::B64), same = ir::new_register(f_, ir::Width::Pred);
      test.insts.push_back(ir::make_inst("mov.u64", {address, function}, call.loc));
      test.insts.push_back(ir::make_inst("setp.eq.u64", {same, Operand{}, call.call[0].target, address}, call.loc));
      test.term = ir::fork(same, first + 2 * t + 1, first + 2 * t + 2, call.loc);
      yes.insts.push_back(call);
      yes.insts.back().guard = Operand{};
      yes.insts.back().call[0].callee = function.sym;
      yes.insts.back().call[0].target = Operand{};
      yes.term = ir::jump(rest, call.loc);
    }
    f_.blocks[last].insts.push_back(call);
    f_.blocks[last].insts.back().guard = Operand{};
    f_.blocks[last].term = ir::jump(rest, call.loc);
    sorted_.insert(last);
    return true;
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
