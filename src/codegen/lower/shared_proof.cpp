// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/shared_proof.h"

#include <bit>

#include "codegen/lower/thread_values.h"

namespace us::codegen {
namespace {

using ir::Operand;
using How = SharedAccess::How;

// A set of threads, or of bytes.
class Bits {
 public:
  explicit Bits(u32 n = 0, bool all = false) : n_(n), words_((n + 63) / 64, all ? ~u64{0} : 0) { trim(); }
  bool has(u32 i) const { return words_[i / 64] >> (i % 64) & 1; }
  void add(u32 i) { words_[i / 64] |= u64{1} << (i % 64); }
  Bits& operator|=(const Bits& o) {
    return with(o, [](u64& a, u64 b) { a |= b; });
  }
  Bits& operator&=(const Bits& o) {
    return with(o, [](u64& a, u64 b) { a &= b; });
  }
  Bits operator~() const {
    Bits r = *this;
    for (u64& w : r.words_) w = ~w;
    return r.trim(), r;
  }
  bool operator==(const Bits&) const = default;
  template <class F>
  bool all_of(F&& f) const {
    for (u32 k = 0; k < words_.size(); ++k)
      for (u64 w = words_[k]; w; w &= w - 1)
        if (!f(k * 64 + static_cast<u32>(std::countr_zero(w)))) return false;
    return true;
  }

 private:
  template <class F>
  Bits& with(const Bits& o, F&& f) {
    for (std::size_t k = 0; k < words_.size(); ++k) f(words_[k], o.words_[k]);
    return *this;
  }
  void trim() {
    if (n_ % 64) words_.back() &= (u64{1} << n_ % 64) - 1;
  }
  u32 n_;
  std::vector<u64> words_;
};
Bits operator&(Bits a, const Bits& b) { return a &= b; }
Bits operator|(Bits a, const Bits& b) { return a |= b; }

u32 bytes_of(const SharedAccess& a) {
  const ir::Inst& i = *a.inst;
  return a.bytes * (i.has(isa::Tok::v2) ? 2 : i.has(isa::Tok::v4) ? 4 : i.has(isa::Tok::v8) ? 8 : 1);
}
const Operand* address_of(const ir::Inst& i) {
  for (const Operand& o : i.ops)
    if (o.kind == Operand::Kind::Address) return &o;
  return nullptr;
}

std::vector<ir::ValueId> wanted(const ir::Function& f, const std::map<u32, std::vector<SharedAccess>>& accesses) {
  std::vector<ir::ValueId> v;
  const auto want = [&](const Operand& o) {
    if (o.value.valid()) v.push_back(o.value);
  };
  for (const auto& [c, all] : accesses)
    for (const SharedAccess& a : all) {
      if (const Operand* o = address_of(*a.inst)) want(*o);
      want(a.inst->guard);
    }
  for (const ir::Block& b : f.blocks)
    if (b.term.kind == ir::Terminator::Kind::CondBr) want(b.term.cond);
  return v;
}

// Who touches a byte.
struct Byte {
  static constexpr u16 kNobody = 0xffff, kSeveral = 0xfffe;
  u16 writer = kNobody, reader = kNobody;
  static void note(u16& who, u32 t) { who = who == kNobody || who == t ? static_cast<u16>(t) : kSeveral; }
  bool fine() const { return writer == kNobody || (writer != kSeveral && (reader == kNobody || reader == writer)); }
};

// Where a thread may come in a region, and which stores it has certainly done then.
struct Way {
  std::map<u32, Bits> comes;             // by block: threads
  std::map<u32, std::vector<Bits>> did;  // by block: at its end, by store
  std::vector<const SharedAccess*> stores;
};

class Prover {
 public:
  Prover(const ir::Module& m, const ir::Function& f, const ir::Cfg& cfg, const CodeFacts& facts,
         const BarrierRegions& r, const std::vector<u32>& classes,
         const std::map<u32, std::vector<SharedAccess>>& accesses)
      : m_(m),
        f_(f),
        r_(r),
        classes_(classes),
        accesses_(accesses),
        values_(m, f, cfg, facts, wanted(f, accesses)),
        n_(values_.threads()) {}

  SharedProof run() {
    if (!n_) return {};
    for (const auto& [c, all] : accesses_)
      for (const SharedAccess& a : all) by_inst_.emplace(a.inst, &a);
    for (u32 k = 0; k < r_.all.size(); ++k) ways_.push_back(way(k));
    for (const auto& [c, all] : accesses_) judge_class(c, all);
    for (const auto& [c, v] : touched_)
      if (proof_.raceless.contains({c, v})) proof_.closed.insert(v);
    for (const auto& [c, v] : touched_)
      if (!proof_.raceless.contains({c, v})) proof_.closed.erase(v);
    if (anywhere_) proof_.closed.clear();
    std::erase_if(proof_.closed, [&](u32 v) { return !all_written(v); });
    return std::move(proof_);
  }

 private:
  bool ends_region(u32 b) const { return !f_.blocks[b].insts.empty() && may_yield(f_.blocks[b].insts.back()); }
  // Threads for which it is true; nothing: not known.
  std::optional<Bits> truth(const Operand& o) const {
    if (o.kind != Operand::Kind::Value || values_.of(o.value).empty()) return {};
    Bits b(n_);
    for (u32 t = 0; t < n_; ++t)
      if ((values_.of(o.value)[t] & 1) != u64{o.negated}) b.add(t);
    return b;
  }
  Bits along(u32 from, std::size_t edge, const Bits& threads) const {
    const ir::Terminator& t = f_.blocks[from].term;
    if (t.kind != ir::Terminator::Kind::CondBr || t.targets[0] == t.targets[1]) return threads;
    const std::optional<Bits> taken = truth(t.cond);
    if (!taken) return threads;
    return threads & (edge == 0 ? *taken : ~*taken);
  }
  Bits guarded(const ir::Inst& i, const Bits& threads) const {
    if (i.guard.kind == Operand::Kind::None) return threads;
    const std::optional<Bits> when = truth(i.guard);
    return when ? threads & *when : threads;
  }

  Way way(u32 region) const {
    Way w;
    const u32 start = r_.all[region].block;
    w.comes.emplace(start, Bits(n_, true));
    std::vector<u32> work{start};
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (ends_region(b)) continue;
      for (std::size_t e = 0; e < f_.blocks[b].term.targets.size(); ++e) {
        const u32 to = f_.blocks[b].term.targets[e].v;
        const Bits come = along(b, e, w.comes.at(b));
        const auto [at, fresh] = w.comes.try_emplace(to, Bits(n_));
        const Bits all = at->second | come;
        if (!fresh && all == at->second) continue;
        at->second = all;
        work.push_back(to);
      }
    }
    for (const auto& [b, threads] : w.comes)
      for (const ir::Inst& i : f_.blocks[b].insts)
        if (const auto a = by_inst_.find(&i); a != by_inst_.end() && a->second->how == How::Write)
          w.stores.push_back(a->second);
    done(start, w);
    return w;
  }
  // A block's stores are done at its end by those who come to it, and those that all ways to it have done.
  void done(u32 start, Way& w) const {
    constexpr u64 kMost = u64{1} << 22;  // threads of stores of blocks
    if (w.comes.size() * w.stores.size() * n_ > kMost) w.stores.clear();
    for (const auto& [b, threads] : w.comes) w.did[b].assign(w.stores.size(), Bits(n_, true));
    for (bool changed = !w.stores.empty(); changed;) {
      changed = false;
      for (auto& [b, did] : w.did) {
        std::vector<Bits> now(w.stores.size(), Bits(n_, b != start));
        for (const auto& [p, before] : w.did) {
          if (ends_region(p)) continue;
          for (std::size_t e = 0; e < f_.blocks[p].term.targets.size(); ++e) {
            if (f_.blocks[p].term.targets[e].v != b) continue;
            const Bits others = ~along(p, e, w.comes.at(p));
            for (std::size_t s = 0; s < now.size(); ++s) now[s] &= before[s] | others;
          }
        }
        for (const ir::Inst& i : f_.blocks[b].insts)
          for (std::size_t s = 0; s < now.size(); ++s)
            if (w.stores[s]->inst == &i && certain(i)) now[s] |= guarded(i, w.comes.at(b));
        if (now != did) did = std::move(now), changed = true;
      }
    }
  }
  bool certain(const ir::Inst& i) const { return i.guard.kind == Operand::Kind::None || truth(i.guard).has_value(); }

  // f(first byte in the variable) for the threads; false: not known, or outside.
  template <class F>
  bool places(const SharedAccess& a, const Bits& threads, F&& f) const {
    const Operand* const o = address_of(*a.inst);
    if (!o || !a.variable.valid()) return false;
    const ir::Symbol& s = m_.symbols[a.variable.v];
    const u32 bytes = bytes_of(a);
    if (o->sym.valid() && !o->value.valid()) {
      if (o->sym != a.variable) return false;
      return threads.all_of(
          [&](u32 t) { return inside(s, static_cast<u64>(o->imm), bytes) && f(t, static_cast<u32>(o->imm)); });
    }
    if (!o->value.valid() || values_.of(o->value).empty()) return false;
    const std::vector<u64>& at = values_.of(o->value);
    return threads.all_of([&](u32 t) {
      const u64 offset = static_cast<u32>(at[t] + static_cast<u64>(o->imm)) - s.offset;
      return inside(s, offset, bytes) && f(t, static_cast<u32>(offset));
    });
  }
  static bool inside(const ir::Symbol& s, u64 offset, u32 bytes) {
    return offset <= s.size && s.size - offset >= bytes && (s.offset + offset) % bytes == 0;
  }

  void judge_class(u32 c, const std::vector<SharedAccess>& all) {
    std::map<u32, std::vector<Byte>> bytes;
    std::set<u32> lost;
    bool any_read = false, any_other = false;
    for (const SharedAccess& a : all) {
      if (!a.variable.valid()) {
        anywhere_ = true;
        (a.how == How::Read ? any_read : any_other) = true;
        continue;
      }
      const u32 v = a.variable.v;
      touched_.insert({c, v});
      std::vector<Byte>& of = bytes[v];
      of.resize(m_.symbols[v].size);
      const u32 n = bytes_of(a);
      bool known = a.how == How::Read || a.how == How::Write;
      for (u32 k = 0; known && k < ways_.size(); ++k) {
        if (classes_[k] != c) continue;
        for (const auto& [b, come] : ways_[k].comes) {
          const ir::Block& block = f_.blocks[b];
          if (a.inst < block.insts.data() || a.inst >= block.insts.data() + block.insts.size()) continue;
          known = known && places(a, guarded(*a.inst, come), [&](u32 t, u32 at) {
                    for (u32 i = 0; i < n; ++i)
                      Byte::note(a.how == How::Read ? of[at + i].reader : of[at + i].writer, t);
                    return true;
                  });
        }
      }
      if (!known) lost.insert(v);
    }
    for (const auto& [v, of] : bytes) {
      if (any_other || lost.contains(v)) continue;
      bool fine = true;
      for (const Byte& b : of) fine = fine && b.fine() && (!any_read || b.writer == Byte::kNobody);
      if (fine) proof_.raceless.insert({c, v});
    }
  }

  // Is all that is read of it certainly written before the barrier?
  bool all_written(u32 v) const {
    const u32 size = static_cast<u32>(m_.symbols[v].size);
    std::vector<Bits> at_start(r_.all.size(), Bits(size, true));
    at_start[0] = Bits(size);
    for (bool changed = true; changed;) {
      changed = false;
      for (u32 k = 0; k < r_.all.size(); ++k)
        for (const auto& [b, did] : ways_[k].did) {
          if (!ends_region(b)) continue;
          Bits written = at_start[k];
          for (std::size_t s = 0; s < did.size(); ++s) {
            const SharedAccess& a = *ways_[k].stores[s];
            if (!a.variable.valid() || a.variable.v != v) continue;
            places(a, did[s] & ways_[k].comes.at(b), [&](u32, u32 at) {
              for (u32 i = 0; i < bytes_of(a); ++i) written.add(at + i);
              return true;
            });
          }
          Bits& next = at_start[r_.of_barrier[b]];
          written &= next;
          if (written != next) next = std::move(written), changed = true;
        }
    }
    for (u32 k = 0; k < ways_.size(); ++k)
      for (const auto& [b, come] : ways_[k].comes)
        for (const ir::Inst& i : f_.blocks[b].insts) {
          const auto found = by_inst_.find(&i);
          if (found == by_inst_.end() || found->second->how != How::Read || found->second->variable.v != v) continue;
          const SharedAccess& a = *found->second;
          const bool written = places(a, guarded(i, come), [&](u32, u32 at) {
            bool all = true;
            for (u32 j = 0; j < bytes_of(a); ++j) all = all && at_start[k].has(at + j);
            return all;
          });
          if (!written) return false;
        }
    return true;
  }

  const ir::Module& m_;
  const ir::Function& f_;
  const BarrierRegions& r_;
  const std::vector<u32>& classes_;
  const std::map<u32, std::vector<SharedAccess>>& accesses_;
  const ThreadValues values_;
  const u32 n_;
  std::map<const ir::Inst*, const SharedAccess*> by_inst_;
  std::vector<Way> ways_;                  // by region
  std::set<std::pair<u32, u32>> touched_;  // class, variable
  bool anywhere_ = false;                  // an access may be to any variable
  SharedProof proof_;
};

}  // namespace

SharedProof prove_shared(const ir::Module& m, const ir::Function& f, const ir::Cfg& cfg, const CodeFacts& facts,
                         const BarrierRegions& r, const std::vector<u32>& classes,
                         const std::map<u32, std::vector<SharedAccess>>& accesses) {
  return Prover(m, f, cfg, facts, r, classes, accesses).run();
}

}  // namespace us::codegen
