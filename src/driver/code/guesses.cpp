// SPDX-License-Identifier: Apache-2.0
#include "driver/code/guesses.h"

#include <unordered_map>
#include <unordered_set>

#include "isa/isa.h"

namespace us::driver {
namespace {

using ir::Inst, ir::Operand;

constexpr u32 kSteps = 8;  // of making an address
// Operands of a compare-and-swap; the address is where a load's is.
constexpr std::size_t kFound = 0, kAddress = 1, kExpected = 2;

bool swaps(const Inst& i) {
  return i.has(isa::Tok::cas) && isa::info(i.form).effects & isa::kAtomic && ir::answers_of(i) == 1;
}
bool is_plain_load(const Inst& i) {
  return isa::info(i.form).effects == isa::kLoad && ir::answers_of(i) == 1 && i.ops.size() > kAddress &&
         i.ops[0].kind == Operand::Kind::Value;
}

class Guess {
 public:
  Guess(const ir::Function& f, const Inst& load) : f_(f) {
    for (const ir::Block& b : f.blocks)
      for (const Inst& i : b.insts)
        ir::for_each_def(i, [&](ir::ValueId v) {
          const auto [at, first] = made_by_.try_emplace(v.v, &i);
          if (!first) at->second = nullptr;
        });
    place_ = place_of(load.ops[kAddress]);
    made_of_.insert(load.ops[0].value.v);
  }
  bool holds() {
    collect();
    return !escapes();
  }

 private:
  struct Place {
    ir::ValueId base;
    ir::SymId symbol;
    i64 offset = 0;
    bool operator==(const Place& o) const {
      return base.v == o.base.v && symbol.v == o.symbol.v && offset == o.offset && (base.valid() || symbol.valid());
    }
  };
  // Compilers add what one instruction could have in its address.
  Place place_of(const Operand& address) const {
    Place p{address.value, address.sym, address.imm};
    for (u32 step = 0; step < kSteps; ++step) {
      const auto at = made_by_.find(p.base.v);
      if (at == made_by_.end() || !at->second) break;
      const Inst& i = *at->second;
      if (i.form == isa::Form::mov && i.ops[1].kind == Operand::Kind::Symbol)
        return {{}, i.ops[1].sym, p.offset + i.ops[1].imm};
      if (i.form != isa::Form::add_int || i.guard.kind != Operand::Kind::None ||
          i.ops[1].kind != Operand::Kind::Value || i.ops[2].kind != Operand::Kind::Imm)
        break;
      p.base = i.ops[1].value, p.offset += i.ops[2].imm;
    }
    return p;
  }
  bool made_of(const Operand& o) const {
    bool on = o.value.valid() && (o.kind == Operand::Kind::Value || o.kind == Operand::Kind::Address) &&
              made_of_.count(o.value.v);
    for (const Operand& e : o.elems) on |= made_of(e);
    return on;
  }
  bool of_place(const Inst& i) const { return swaps(i) && place_of(i.ops[kAddress]) == place_; }
  bool uses(const Inst& i) const {
    for (std::size_t k = ir::answers_of(i); k < i.ops.size(); ++k)
      if (made_of(i.ops[k])) return true;
    return made_of(i.guard);
  }
  // All registers that the answer goes into, whatever the order, and those that a swap's finding is in.
  void collect() {
    for (const ir::Block& b : f_.blocks)
      for (const Inst& i : b.insts)
        if (of_place(i) && i.ops[kFound].kind == Operand::Kind::Value) found_.insert(i.ops[kFound].value.v);
    for (std::size_t before = 0; before != made_of_.size();) {
      before = made_of_.size();
      for (const ir::Block& b : f_.blocks)
        for (const Inst& i : b.insts)
          if (!swaps(i) && uses(i)) ir::for_each_def(i, [&](ir::ValueId v) { made_of_.insert(v.v); });
    }
  }
  // Is it a comparison with what was found? Then the program knows whether the guess was right.
  bool verifies(const Inst& i) const {
    for (std::size_t k = ir::answers_of(i); k < i.ops.size(); ++k)
      if (i.ops[k].kind == Operand::Kind::Value && found_.count(i.ops[k].value.v)) return true;
    return false;
  }
  bool escapes() {
    std::unordered_set<u32> decides;
    for (const ir::Block& b : f_.blocks) {
      if (made_of(b.term.cond)) decides.insert(b.term.cond.value.v);
      for (const Inst& i : b.insts) {
        if (made_of(i.guard)) return true;
        if (!uses(i)) continue;
        if (of_place(i) && !made_of(i.ops[kAddress])) {
          expected_ |= made_of(i.ops[kExpected]);
        } else if (!i.call.empty() || i.form == isa::Form::Unknown || isa::info(i.form).effects != isa::kPure) {
          return true;
        }
      }
    }
    for (const ir::Block& b : f_.blocks)
      for (const Inst& i : b.insts) {
        bool of_branch = false;
        ir::for_each_def(i, [&](ir::ValueId v) { of_branch |= decides.count(v.v) != 0; });
        if (of_branch && !verifies(i)) return true;
      }
    return !expected_;
  }

  const ir::Function& f_;
  std::unordered_map<u32, const Inst*> made_by_;  // null: by several
  Place place_;
  std::unordered_set<u32> made_of_, found_;
  bool expected_ = false;  // by a compare-and-swap
};

}  // namespace

bool only_guesses(const ir::Function& f, const Inst& load) {
  return is_plain_load(load) && load.guard.kind == Operand::Kind::None && Guess(f, load).holds();
}

}  // namespace us::driver
