// SPDX-License-Identifier: Apache-2.0
#include "codegen/inline_calls.h"

#include <algorithm>
#include <set>

#include "codegen/analysis.h"
#include "ir/cfg.h"

namespace us::codegen {
namespace {

using ir::Block;
using ir::BlockId;
using ir::Inst;
using ir::Operand;
using ir::Terminator;

constexpr std::size_t kMaxInsts = 30000;  // of the function that grows

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

class Inliner {
 public:
  Inliner(const ir::Module& m, const std::vector<u8>& waiting, ir::Function& f, std::map<u32, u32>& local_shift)
      : m_(m), waiting_(waiting), f_(f), local_shift_(local_shift) {
    for (const Block& b : f.blocks) insts_ += b.insts.size();
  }

  void run() {
    within_.resize(f_.blocks.size());
    for (u32 b = 0; b < f_.blocks.size(); ++b)
      for (std::size_t k = 0; k < f_.blocks[b].insts.size(); ++k) {
        const u32 callee = callee_of(m_, f_.blocks[b].insts[k]);
        if (callee == ~0u || !waiting_[callee] || within_[b].count(callee) || insts_ > kMaxInsts) continue;
        expand(b, k, m_.functions[callee], callee);
        break;
      }
  }

 private:
  Operand new_register(u32 bits) {
    f_.regs.push_back(bits == 64   ? ir::Width::B64
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

  void expand(u32 b, std::size_t k, const ir::Function& callee, u32 id) {
    const u32 first = static_cast<u32>(f_.blocks.size()), rest = first + static_cast<u32>(callee.blocks.size());
    f_.blocks.resize(rest + 1);
    within_.resize(rest + 1);
    Block& head = f_.blocks[b];
    Block& tail = f_.blocks[rest];
    const Inst call = std::move(head.insts[k]);
    tail.insts.assign(std::make_move_iterator(head.insts.begin() + static_cast<std::ptrdiff_t>(k) + 1),
                      std::make_move_iterator(head.insts.end()));
    tail.term = std::move(head.term);
    within_[rest] = within_[b];
    head.insts.resize(k);
    head.term = Terminator{};
    head.term.kind = Terminator::Kind::Br;
    head.term.targets = {BlockId{first}};
    head.term.loc = call.loc;
    copy_body(callee, id, b, first, rest);
    // Arguments go into the parameters before the body, results out of them behind it; a call that is jumped over does neither.
    std::vector<Inst> in, out;
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
    if (call.guard.kind == Operand::Kind::None) {
      f_.blocks[b].insts.insert(f_.blocks[b].insts.end(), in.begin(), in.end());
      f_.blocks[rest].insts.insert(f_.blocks[rest].insts.begin(), out.begin(), out.end());
    } else {
      around(b, first, rest, call.guard, std::move(in), std::move(out));
    }
  }

  // @p call: b ─p─► arguments ─► body ─► results ─► rest, or straight to rest.
  void around(u32 b, u32 first, u32 rest, const Operand& guard, std::vector<Inst> in, std::vector<Inst> out) {
    const u32 enter = static_cast<u32>(f_.blocks.size()), leave = enter + 1;
    f_.blocks.resize(leave + 1);
    within_.resize(leave + 1);
    within_[enter] = within_[leave] = within_[b];
    for (u32 x = first; x < rest; ++x)
      for (BlockId& t : f_.blocks[x].term.targets)
        if (t.v == rest) t.v = leave;
    auto jump = [&](u32 to) {
      Terminator t;
      t.kind = Terminator::Kind::Br;
      t.targets = {BlockId{to}};
      t.loc = f_.blocks[b].term.loc;
      return t;
    };
    f_.blocks[enter].insts = std::move(in);
    f_.blocks[enter].term = jump(first);
    f_.blocks[leave].insts = std::move(out);
    f_.blocks[leave].term = jump(rest);
    Terminator& t = f_.blocks[b].term;
    t.kind = Terminator::Kind::CondBr;
    t.cond = guard;
    t.targets = {BlockId{enter}, BlockId{rest}};
  }

  void copy_body(const ir::Function& callee, u32 id, u32 caller_block, u32 first, u32 rest) {
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
      within_[first + x] = within_[caller_block];
      within_[first + x].insert(id);
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
  std::set<u32> framed_;
  std::size_t insts_ = 0;
};

}  // namespace

std::vector<u8> waiting_functions(const ir::Module& m) {
  std::vector<u8> waits(m.functions.size(), 0);
  for (u32 f = 0; f < m.functions.size(); ++f) waits[f] = waits_itself(m.functions[f]);
  for (bool changed = true; changed;) {
    changed = false;
    for (u32 f = 0; f < m.functions.size(); ++f)
      for (const Block& b : m.functions[f].blocks)
        for (const Inst& i : b.insts) {
          const u32 callee = callee_of(m, i);
          if (waits[f] || callee == ~0u || !waits[callee]) continue;
          waits[f] = 1;
          changed = true;
        }
  }
  return waits;
}

void inline_waiting_calls(const ir::Module& m, const std::vector<u8>& waiting, ir::Function& f,
                          std::map<u32, u32>& local_shift) {
  Inliner(m, waiting, f, local_shift).run();
}

}  // namespace us::codegen
