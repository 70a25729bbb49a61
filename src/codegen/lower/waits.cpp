// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/waits.h"

#include <algorithm>
#include <map>
#include <utility>

namespace us::codegen {
namespace {

using ir::Cfg;
using ir::Operand;

u32 effects(const ir::Inst& i) { return i.form == isa::Form::Unknown ? 0 : isa::info(i.form).effects; }

bool is_block_barrier(const ir::Inst& i) {
  return (effects(i) & isa::kYield) && (effects(i) & (isa::kBarrier | isa::kClusterBarrier));
}

bool is_plain_load(const ir::Inst& i) {
  return i.form != isa::Form::Unknown && effects(i) == isa::kLoad && !i.has(isa::Tok::param) &&
         !i.has(isa::Tok::const_);
}

// A load, or an atomic that changes nothing until it finds what it waits for, unlike a counter that gives out work.
bool only_looks(const ir::Inst& i) {
  if (effects(i) & isa::kLoad) return true;
  if (i.has(isa::Tok::cas) || i.has(isa::Tok::exch)) return true;
  return i.ops.size() > 2 && i.ops[2].kind == Operand::Kind::Imm && i.ops[2].imm == 0;
}

bool of_device(const ir::Inst& i) {
  for (const isa::Tok t : {isa::Tok::local, isa::Tok::param, isa::Tok::const_, isa::Tok::nc})
    if (i.has(t)) return false;
  return true;
}
bool of_block(const ir::Inst& i) { return i.has(isa::Tok::shared) || i.has(isa::Tok::shared_cta); }

}  // namespace

Waits::Waits(ir::Function& f, const Cfg& c) : f_(f), c_(c) {
  def_block.assign(f.regs.size(), Cfg::kNone);
  def_inst.assign(f.regs.size(), nullptr);
  for (u32 b = 0; b < f.blocks.size(); ++b) {
    for (ir::Phi& p : f.blocks[b].phis) def_block[p.dest.v] = b;
    for (ir::Inst& i : f.blocks[b].insts)
      ir::for_each_def(i, [&](ir::ValueId v) {
        def_block[v.v] = b;
        def_inst[v.v] = &i;
      });
  }
}

// What a question has seen. Kept from question to question: clearing it for each would take the square of the number of
// loops. A question may ask another one.
class Waits::Marks {
 public:
  explicit Marks(const Waits& w) : w_(w) {
    if (w.marks_.size() == w.asking_) w.marks_.emplace_back(w.f_.regs.size(), 0);
    of_ = &w.marks_[w.asking_++];
    turn_ = ++w.turns_;
  }
  ~Marks() { --w_.asking_; }
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;
  bool set(ir::ValueId v) { return std::exchange((*of_)[v.v], turn_) != turn_; }  // true: not seen before

 private:
  const Waits& w_;
  std::vector<u32>* of_;
  u32 turn_;
};

// Do these values come, within the loop, from an instruction that passes the test?
bool Waits::depends(std::vector<ir::ValueId> work, int loop, const Test& test, const Cfg* choices) const {
  Marks marks(*this);
  std::vector<u8> choices_seen(choices ? f_.blocks.size() : 0, 0);
  for (ir::ValueId v : work) marks.set(v);
  auto push = [&](const Operand& o) {
    if (o.value.valid() && marks.set(o.value)) work.push_back(o.value);
  };
  while (!work.empty()) {
    const ir::ValueId v = work.back();
    work.pop_back();
    if (def_block[v.v] == Cfg::kNone || !c_.in_loop(def_block[v.v], loop)) continue;
    if (ir::Inst* d = def_inst[v.v]) {
      if (test(*d)) return true;
      ir::for_each_use(*d, push);
    } else {
      const u32 b = def_block[v.v];
      for (ir::Phi& p : f_.blocks[b].phis)
        if (p.dest == v)
          for (const Operand& o : p.in) push(o);
      if (choices && !std::exchange(choices_seen[b], 1)) for_each_choice(*choices, b, loop, push);
    }
  }
  return false;
}

// Conditions of the loop by which control comes to one or another predecessor of the block.
template <class F>
void Waits::for_each_choice(const Cfg& c, u32 block, int loop, F use) const {
  for (u32 p : c.preds[block])
    for (u32 b = p; c.in_loop(b, loop); b = c.idom[b]) {
      const u32 met = c.ipdom[b];  // behind it both sides are together again
      if (met == c.exit_node || !c.dominates(met, p)) use(f_.blocks[b].term.cond);
      if (b == c.idom[block] || b == c.idom[b]) break;
    }
}

bool Waits::exit_waits(int loop, const std::function<bool(const Operand&)>& counts) const {
  std::vector<ir::ValueId> conditions;
  for (u32 b : c_.loops[static_cast<std::size_t>(loop)].blocks)
    if (const Operand& o = f_.blocks[b].term.cond; o.kind == Operand::Kind::Value && counts(o))
      conditions.push_back(o.value);
  return depends(std::move(conditions), loop, [&](ir::Inst& i) { return is_spin(i) && !is_lock_free_update(i, loop); });
}

std::vector<ir::Inst*> Waits::looks(int loop) const {
  std::vector<ir::ValueId> conditions;
  std::vector<ir::Inst*> out;
  for (u32 b : c_.loops[static_cast<std::size_t>(loop)].blocks) {
    if (const Operand& o = f_.blocks[b].term.cond; o.kind == Operand::Kind::Value) conditions.push_back(o.value);
    for (ir::Inst& i : f_.blocks[b].insts)
      if (is_spin(i) && only_looks(i) && !is_lock_free_update(i, loop)) out.push_back(&i);
  }
  std::erase_if(out,
                [&](ir::Inst* look) { return !depends(conditions, loop, [&](ir::Inst& i) { return &i == look; }); });
  return out;
}

bool Waits::only_reads(int loop) const {
  const auto reads = [](const ir::Inst& i) {
    return i.form != isa::Form::Unknown &&
           !(effects(i) & (isa::kStore | isa::kAtomic | isa::kYield | isa::kBarrier | isa::kClusterBarrier));
  };
  return std::ranges::all_of(c_.loops[static_cast<std::size_t>(loop)].blocks,
                             [&](u32 b) { return std::ranges::all_of(f_.blocks[b].insts, reads); });
}

std::vector<ir::ValueId> Waits::exits(int loop) const {
  std::vector<ir::ValueId> out;
  for (u32 b : c_.loops[static_cast<std::size_t>(loop)].blocks) {
    const auto leaves = [&](u32 s) { return !c_.in_loop(s, loop); };
    const Operand& o = f_.blocks[b].term.cond;
    if (o.kind == Operand::Kind::Value && std::any_of(c_.succs[b].begin(), c_.succs[b].end(), leaves))
      out.push_back(o.value);
  }
  return out;
}

bool Waits::around_barrier(int loop) const {
  const std::vector<u32>& blocks = c_.loops[static_cast<std::size_t>(loop)].blocks;
  const auto has_barrier = [&](u32 b) { return std::ranges::any_of(f_.blocks[b].insts, is_block_barrier); };
  if (std::ranges::none_of(blocks, has_barrier)) return false;
  const auto may_look = [&](const ir::Inst& i) { return is_spin(i) && only_looks(i) && !of_block(i); };
  const auto some_look = [&](u32 b) { return std::ranges::any_of(f_.blocks[b].insts, may_look); };
  if (std::ranges::none_of(blocks, some_look)) return false;
  const Cfg choices = ir::analyze_cfg(f_, false);  // an exit is a way like others
  std::vector<ir::Inst*> looks;
  const auto is_look = [&](ir::Inst& i) { return std::find(looks.begin(), looks.end(), &i) != looks.end(); };
  // Loops within that wait by themselves; one that looks at what others do and goes on whatever it sees is none.
  std::map<int, bool> waiting;
  const auto waits_itself = [&](int inner) {
    const auto [it, is_new] = waiting.emplace(inner, false);
    if (is_new)
      it->second = depends(
          exits(inner), inner, [&](ir::Inst& i) { return is_spin(i) && !is_lock_free_update(i, inner); }, &choices);
    return it->second;
  };
  for (u32 b : blocks) {
    if (!some_look(b) || (c_.loop_of[b] != loop && waits_itself(c_.loop_of[b]))) continue;
    for (ir::Inst& i : f_.blocks[b].insts)
      if (may_look(i) && !is_lock_free_update(i, loop)) looks.push_back(&i);
  }
  if (looks.empty()) return false;
  if (depends(exits(loop), loop, is_look, &choices)) return true;
  return depends(exits(loop), loop, is_plain_load, &choices) &&
         std::any_of(looks.begin(), looks.end(), [&](ir::Inst* i) { return is_told(*i, loop); });
}

bool Waits::shares(int loop) const {
  bool writes = false, takes = false;  // takes: by an atomic in global memory
  for (u32 b : c_.loops[static_cast<std::size_t>(loop)].blocks)
    for (const ir::Inst& i : f_.blocks[b].insts) {
      const bool far = of_device(i) && !of_block(i);
      writes = writes || (effects(i) & isa::kAtomic) || ((effects(i) & isa::kStore) && far);
      takes = takes || ((effects(i) & isa::kAtomic) && far);
    }
  return depends(exits(loop), loop, [&](ir::Inst& i) {
    if (effects(i) & isa::kAtomic) return true;
    if (!(effects(i) & isa::kLoad) || !of_device(i)) return false;
    return is_spin(i) || (of_block(i) ? takes : writes);
  });
}

// A load, or an atomic whose result is stored in the loop.
bool Waits::is_told(ir::Inst& look, int loop) const {
  if (effects(look) & isa::kLoad) return true;
  std::vector<ir::ValueId> stored;
  for (u32 b : c_.loops[static_cast<std::size_t>(loop)].blocks)
    for (ir::Inst& i : f_.blocks[b].insts)
      if (effects(i) & isa::kStore)
        ir::for_each_use(i, [&](Operand& o) {
          if (o.value.valid()) stored.push_back(o.value);
        });
  return depends(std::move(stored), loop, [&](ir::Inst& i) { return &i == &look; });
}

// atom.cas whose compare value was read from memory in the loop: some lane always succeeds, nobody is waited for.
bool Waits::is_lock_free_update(ir::Inst& i, int loop) const {
  if (!i.has(isa::Tok::cas)) return false;
  const Operand& compare = i.ops.size() > 2 ? i.ops[2] : i.ops.back();
  return compare.value.valid() && depends({compare.value}, loop, [](ir::Inst& d) {
           return d.form == isa::Form::Unknown || (effects(d) & (isa::kLoad | isa::kAtomic));
         });
}

bool tells_others(const ir::Inst& i) {
  if (of_block(i)) return false;
  const u32 e = effects(i);
  if (e & isa::kAtomic) return true;
  if (e & isa::kStore) return i.has(isa::Tok::volatile_) || i.has(isa::Tok::relaxed) || i.has(isa::Tok::release);
  return (e & isa::kOrders) && (i.has(isa::Tok::gl) || i.has(isa::Tok::gpu) || i.has(isa::Tok::sys));
}

bool is_spin(const ir::Inst& i) {
  if (i.form == isa::Form::Unknown) return false;
  const u32 e = isa::info(i.form).effects;
  if (e & isa::kSpin) return true;
  if (e & isa::kAtomic) return true;
  return (e & isa::kLoad) && (i.has(isa::Tok::volatile_) || i.has(isa::Tok::relaxed) || i.has(isa::Tok::acquire));
}

}  // namespace us::codegen
