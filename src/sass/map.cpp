// SPDX-License-Identifier: Apache-2.0
#include "sass/map.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace us::sass {
namespace {

using Statement = Program::Statement;

// Of one block of machine code, about one PTX block.
struct Share {
  std::map<u32, Map::Use> anchors{};                               // by element
  std::map<std::pair<u32, std::string_view>, u32> instructions{};  // by statement and name
  std::set<u32> statements{};
  struct Pieces {  // of one execution of a load
    u32 statement;
    std::string_view base;
    std::vector<i64> offsets;  // sorted
  };
  std::vector<Pieces> pieces{};
  u32 unrolled = 0;      // by the constant of an addition; 0: it does not say
  bool decides = false;  // holds the branch at the PTX block's end
  u32 middle() const {
    std::vector<u32> counts;
    for (const auto& [what, count] : instructions) counts.push_back(count);
    std::ranges::sort(counts);
    return counts.empty() ? 0 : counts[counts.size() / 2];
  }
};

class Maker {
 public:
  Maker(const Program& p, const Function& f, const Graph& g, bool loose) : p_(p), f_(f), g_(g), loose_(loose) {}

  Map run() {
    out_.blocks.resize(g_.blocks.size());
    out_.elements.resize(p_.blocks().size());
    find_statements();
    out_.further.resize(f_.instructions.size());
    find_functions();
    find_ways();
    shares_.resize(g_.blocks.size());
    for (u32 b = 0; b < g_.blocks.size(); ++b)
      if (reached_[b]) look_at(b);
    find_merged();
    if (!loose_) find_detours();
    for (auto& shares : shares_)
      for (auto& [block, share] : shares) settle(block, share);
    name_elements();
    return std::move(out_);
  }

 private:
  void find_statements() {
    for (u32 i = 0; i < f_.instructions.size(); ++i) {
      const u32 line = i < f_.ptx_lines.size() ? f_.ptx_lines[i] : 0;
      const u32 at = line ? p_.statement_at(line) : Map::kNone;
      out_.statements.push_back(at == Map::kNone ? at : waited_for(f_.instructions[i], at));
      out_.mapped += at != Map::kNone;
      if (at != Map::kNone && base_name(f_.instructions[i]) == "QSPC") asked_.insert(at);
    }
  }

  // The first try of a waiting loop, taken out of it, has the line of the statement in front of the loop.
  u32 waited_for(const Instruction& i, u32 at) const {
    if (!i.name.starts_with("SYNCS.PHASECHK")) return at;
    const u32 end = p_.statements()[at].block + 2;
    for (u32 k = at; k < p_.statements().size() && p_.statements()[k].block < end; ++k)
      if (p_.statements()[k].inst && waits(p_.statements()[k])) return k;
    return at;
  }

  // Lanes go one after the other where an operand must be the same in all of them: they rarely copy from one address,
  // and mostly have one mbarrier.
  bool copies(const Graph::Block& b) const {
    for (u32 i = b.first; i < b.end; ++i)
      if (base_name(f_.instructions[i]).starts_with("UBLK") || base_name(f_.instructions[i]).starts_with("UTMA"))
        return true;
    return false;
  }

  // One statement that is none of compare-and-swap.
  bool retries(const Graph::Block& b) const {
    for (u32 i = b.first; i < b.end; ++i)
      if (f_.instructions[i].name.find(".CAST.SPIN") != std::string::npos && out_.statements[i] != Map::kNone)
        return !p_.statements()[out_.statements[i]].inst->has(isa::Tok::cas);
    return false;
  }

  // A generic atomic that found no global memory asks for the address's space (QSPC).
  bool elsewhere(const Graph::Block& b) const {
    for (u32 i = b.first; i < b.end; ++i)
      if (base_name(f_.instructions[i]) == "QSPC") return true;
    return false;
  }

  static u32 barrier_of(const Instruction& i) {
    for (const std::vector<Access>* all : {&i.reads, &i.writes})
      for (const Access& a : *all)
        if (a.bank == Bank::Barrier) return a.first;
    return 0;
  }

  void find_regions(const Graph::Block& from, Map::Block& to) const {
    const Instruction& last = f_.instructions[from.end - 1];
    if (to.joins) to.barrier = barrier_of(last);
    if (last.flow() == Flow::Branch && last.target && *last.target / 16 < g_.block_of.size())
      to.taken = g_.block_of[*last.target / 16];
    for (u32 i = from.first; i < from.end; ++i) {
      const Instruction& inst = f_.instructions[i];
      const std::string_view name = base_name(inst);
      if (name == "BSSY") to.regions.push_back({barrier_of(inst), true, false});
      if (name == "BREAK") to.regions.push_back({barrier_of(inst), false, !inst.guard.always() || inst.conditional});
      to.gathers |= name == "WARPSYNC" || name == "BAR" || inst.name.starts_with("BRA.DIV");
    }
  }

  // A warp whose lanes stay together never takes BRA.DIV, nor the collectives that lie behind it.
  void find_ways() {
    for (u32 b = 0; b < g_.blocks.size(); ++b) {
      const Graph::Block& from = g_.blocks[b];
      const Instruction& last = f_.instructions[from.end - 1];
      Map::Block& to = out_.blocks[b];
      to.next = from.successors;
      if (last.name.starts_with("BRA.DIV") && from.end < f_.instructions.size()) to.next = {g_.block_of[from.end]};
      if (last.flow() == Flow::Call) find_callees(b);
      to.returns = last.flow() == Flow::Return;
      to.ends = from.leaves && !to.returns;
      to.joins = last.flow() == Flow::Join;
      to.elsewhere = elsewhere(from);
      find_regions(from, to);
      const bool loops = std::ranges::find(from.successors, b) != from.successors.end();
      const bool repeats = loops && last.name.starts_with("BRA.U.ANY");
      to.retries = loops && retries(from);
      if (repeats || to.retries) std::erase(to.next, b);
      to.for_each_lane = repeats && copies(from);
    }
    reached_.resize(g_.blocks.size());
    std::vector<u32> work{0};
    if (!reached_.empty()) reached_[0] = true;
    while (!work.empty() && !reached_.empty()) {
      const u32 b = work.back();
      work.pop_back();
      for (const u32 s : out_.blocks[b].next)
        if (!reached_[s]) reached_[s] = true, work.push_back(s);
      const u32 back = out_.blocks[b].back;
      if (back != Map::kNone && !reached_[back]) reached_[back] = true, work.push_back(back);
    }
  }

  // Where functions of the program begin: "$KERNEL$FUNCTION". What else lies behind a kernel is the compiler's own.
  void find_functions() {
    const std::string prefix = "$" + f_.name + "$";
    for (const auto& [offset, name] : f_.places)
      if (name.starts_with(prefix) && offset / 16 < f_.instructions.size() &&
          p_.first_block_of(std::string_view(name).substr(prefix.size())) != Map::kNone)
        functions_.push_back(g_.block_of[offset / 16]);
  }

  // A function whose address is computed may be any of them; one with an address of its own may be the device's, too.
  void find_callees(u32 b) {
    const Graph::Block& from = g_.blocks[b];
    const Instruction& last = f_.instructions[from.end - 1];
    Map::Block& to = out_.blocks[b];
    const u32 callee =
        from.callee && *from.callee / 16 < g_.block_of.size() ? g_.block_of[*from.callee / 16] : Map::kNone;
    const bool known = std::ranges::find(functions_, callee) != functions_.end();
    to.slow = from.callee && !known;
    if (to.slow && callee != Map::kNone && from.end < f_.instructions.size()) find_subroutine(callee, to);
    if (to.slow && !to.longest.empty()) to.back = g_.block_of[from.end];
    if (to.slow || functions_.empty() || from.end >= f_.instructions.size()) return;
    to.back = g_.block_of[from.end];
    if (known)
      to.next = {callee};
    else if (last.name.starts_with("CALL.ABS"))
      to.next.insert(to.next.end(), functions_.begin(), functions_.end());
    else
      to.next = functions_;
  }

  // A subroutine of the compiler has no loops; which way it goes depends on its operands. What is zero, infinite or no
  // number passes tests and computes nothing.
  void find_subroutine(u32 entry, Map::Block& to) {
    Ways longest(*this, [](u32) { return true; }), tests(*this, [&](u32 b) { return !computes(b); });
    to.longest = longest.from(entry), to.shortest = tests.from(entry);
    if (!to.shortest.empty()) return;
    Ways shortest(
        *this, [](u32) { return true; }, true);
    to.shortest = shortest.from(entry);
  }
  bool computes(u32 b) const {
    constexpr std::string_view kNames[] = {"FFMA", "FADD", "FMUL", "DFMA", "DADD", "DMUL", "MUFU"};
    for (u32 i = g_.blocks[b].first; i < g_.blocks[b].end; ++i)
      if (std::ranges::find(kNames, base_name(f_.instructions[i])) != std::end(kNames)) return true;
    return false;
  }

  // The longest way to a return, or the shortest, through blocks that fit; empty: there is none.
  class Ways {
   public:
    Ways(const Maker& m, std::function<bool(u32)> fits, bool shortest = false)
        : m_(m), fits_(std::move(fits)), shortest_(shortest) {}
    std::vector<u32> from(u32 entry) {
      std::vector<u32> way;
      for (u32 b = find(entry).length ? entry : Map::kNone; b != Map::kNone; b = known_[b].next) way.push_back(b);
      return way;
    }

   private:
    struct Way {
      u32 length = 0, next = Map::kNone;  // instructions; 0: there is none
    };
    Way find(u32 b) {
      const auto [at, fresh] = known_.try_emplace(b);
      if (!fresh || !fits_(b)) return at->second;  // of a loop: none
      const Graph::Block& block = m_.g_.blocks[b];
      const Flow flow = m_.f_.instructions[block.end - 1].flow();
      Way best;
      if (flow != Flow::Return && flow != Flow::Call)
        for (const u32 to : block.successors) {
          const u32 n = find(to).length;
          if (n && (!best.length || (shortest_ ? n < best.length : n > best.length))) best = {n, to};
        }
      if (best.length || flow == Flow::Return) best.length += block.end - block.first;
      return known_[b] = best;
    }
    const Maker& m_;
    const std::function<bool(u32)> fits_;
    const bool shortest_;
    std::map<u32, Way> known_;
  };

  u32 element_of(u32 statement, std::string_view name) {
    const auto [at, fresh] = numbers_.emplace(std::pair(statement, name), static_cast<u32>(named_.size()));
    if (fresh) named_.push_back(at->first);
    return at->second;
  }

  void look_at(u32 b) {
    for (u32 i = g_.blocks[b].first; i < g_.blocks[b].end; ++i) {
      const u32 index = out_.statements[i];
      if (index == Map::kNone) continue;
      const Statement& s = p_.statements()[index];
      const Instruction& inst = f_.instructions[i];
      if (is_jump(s) && inst.flow() != Flow::Branch) continue;               // of what is on the way, wherever that is
      if (inst.flow() == Flow::Join || base_name(inst) == "BSSY") continue;  // of whatever lies before
      Share& share = shares_[b][s.block];
      share.statements.insert(index);
      if (is_further(share, index, inst)) {
        out_.further[i] = true;
        continue;
      }
      ++share.instructions[{index, inst.name}];
      share.decides |= s.term && inst.flow() == Flow::Branch;
      share.unrolled = std::max(share.unrolled, steps_of(inst, induction_step(s)));
      if (loose_ || !is_anchor(inst, s) || (asked_.contains(index) && base_name(inst) == "ATOMS")) continue;
      const u32 element = element_of(index, base_name(inst));
      Map::Use& use = share.anchors[element];
      use.element = element;
      ++use.at_most;
      use.surely += inst.guard.always();
      anchored_[s.block].insert(element);
      wide_[{b, element}] = inst.memory.bytes;
    }
    for (const auto& [block, share] : shares_[b]) out_.blocks[b].sources.push_back(block);
  }

  // Where words of a vector are not used, one load may be several instructions: each piece once, from one register.
  bool is_further(Share& share, u32 index, const Instruction& inst) const {
    const u32 bytes = vector_bytes(p_.statements()[index]), own = inst.memory.bytes;
    if (!own || own >= bytes || !is_anchor(inst, p_.statements()[index])) return false;
    const Place at = place_of(inst);
    for (Share::Pieces& one : share.pieces) {
      if (one.statement != index || one.base != at.base) continue;
      const i64 first = std::min(one.offsets.front(), at.offset), last = std::max(one.offsets.back(), at.offset);
      if (last + own - first > bytes || std::ranges::find(one.offsets, at.offset) != one.offsets.end()) continue;
      one.offsets.insert(std::ranges::upper_bound(one.offsets, at.offset), at.offset);
      return true;
    }
    share.pieces.push_back({index, at.base, {at.offset}});
    return false;
  }

  // Several accesses of one PTX block that are one here: the wide one stands for its neighbours that have none.
  void find_merged() {
    for (u32 b = 0; b < shares_.size(); ++b)
      for (auto& [block, share] : shares_[b]) {
        const std::map<u32, Map::Use> own = share.anchors;
        for (const auto& [element, use] : own)
          for (const u32 other : anchored_[block])
            if (!own.contains(other) && named_[other].second == named_[element].second &&
                merged(p_.statements()[named_[element].first], wide_[{b, element}],
                       p_.statements()[named_[other].first]))
              share.anchors.try_emplace(other, Map::Use{other, use.surely, use.at_most});
      }
  }

  // A block that calls a subroutine stands for a detour of its statement: surely, where there is a way around it.
  void find_detours() {
    for (u32 b = 0; b < g_.blocks.size(); ++b) {
      Map::Block& from = out_.blocks[b];
      const u32 index = out_.statements[g_.blocks[b].end - 1];
      if (!reached_[b] || from.longest.empty() || index == Map::kNone) continue;
      const Statement& s = p_.statements()[index];
      if (s.detours == Map::kNone) continue;
      const bool choice = std::ranges::any_of(g_.blocks[b].predecessors,
                                              [&](u32 before) { return g_.blocks[before].successors.size() > 1; });
      const u32 element = element_of(index, "CALL");
      from.detours = s.detours;
      from.uses.push_back({element, choice ? 1u : 0u, 1});
      for (const u32 k : {s.detours, s.detours + 1}) out_.elements[k] = {element};
    }
  }

  static const ir::Operand* address_of(const Statement& s) {
    for (const ir::Operand& o : s.inst->ops)
      if (o.kind == ir::Operand::Kind::Address) return &o;
    return nullptr;
  }
  static bool merged(const Statement& wide, u32 bytes, const Statement& s) {
    if (isa::info(s.inst->form).effects & isa::kAtomic) return false;
    const ir::Operand *a = address_of(wide), *b = address_of(s);
    if (!a || !b || wide.inst->form != s.inst->form || a->value != b->value || a->sym != b->sym) return false;
    const i64 apart = b->imm - a->imm;
    return apart > -i64{bytes} && apart < i64{bytes};
  }

  static bool is_jump(const Statement& s) { return s.term && s.term->kind == ir::Terminator::Kind::Br; }

  // Asks twice for one statement, with a pause between.
  static bool waits(const Statement& s) {
    const std::string_view id = isa::info(s.inst->form).id;
    return id.starts_with("mbarrier_try_wait") || id.starts_with("mbarrier_test_wait");
  }

  static bool orders(const Statement& s, std::string_view name) { return name == "BAR" || waits(s); }

  // How many executions the elements are of.
  void settle(u32 block, Share& share) const {
    const bool in_loop = p_.blocks()[block].depth > 0;
    for (auto& [element, use] : share.anchors) {
      if (!in_loop || waits(p_.statements()[named_[element].first])) {
        use.surely = std::min(use.surely, 1u);
        use.at_most = 1;
      } else if (share.unrolled > 1) {
        if (use.surely) use.surely = share.unrolled;
        use.at_most = share.unrolled;
      }
    }
  }

  // Arithmetic of a loop that lies outside of all loops here has been moved there: it tells nothing.
  bool moved_out(u32 block, const std::vector<u32>& depth) const {
    u32 deepest = 0;
    for (u32 b = 0; b < shares_.size(); ++b)
      if (shares_[b].contains(block)) deepest = std::max(deepest, depth[b]);
    return p_.blocks()[block].depth > deepest;
  }

  // Some of a loop's arithmetic has, and the rest is where it was: that part stands for no execution.
  bool hoisted(u32 b, u32 block, const Share& share, std::size_t most, const std::vector<u32>& depth) const {
    if (anchored_.contains(block) || share.decides || p_.blocks()[block].depth <= depth[b]) return false;
    if (share.statements.size() * 2 >= most) return false;
    for (u32 k = 0; k < shares_.size(); ++k)
      if (depth[k] > depth[b] && shares_[k].contains(block)) return true;
    return false;
  }

  // A subroutine that may be called cuts a PTX block into pieces here: of those without anchors the ones that have this
  // statement stand for its executions. It is the first that calls one where the loop is deepest.
  std::map<u32, u32> keys(const std::vector<u32>& depth) const {
    std::map<u32, std::pair<u32, u32>> found;  // how deep, and the statement
    for (u32 b = 0; b < shares_.size(); ++b)
      for (const auto& [block, share] : shares_[b])
        for (const u32 s : share.statements) {
          if (out_.blocks[b].slow || p_.statements()[s].detours == Map::kNone) continue;
          const auto [at, fresh] = found.try_emplace(block, depth[b], s);
          if (!fresh && depth[b] >= at->second.first)
            at->second = {depth[b], depth[b] > at->second.first ? s : std::min(s, at->second.second)};
        }
    std::map<u32, u32> keys;
    for (const auto& [block, deepest] : found) keys[block] = deepest.second;
    return keys;
  }

  // In how many loops of its function each block is.
  std::vector<u32> depths() const {
    std::vector<std::vector<u32>> next;
    for (const Map::Block& b : out_.blocks) next.push_back(b.back == Map::kNone ? b.next : std::vector<u32>{b.back});
    std::vector<u32> depth = loop_depths(next, 0);
    for (const u32 entry : functions_) {
      const std::vector<u32> of_function = loop_depths(next, entry);
      for (u32 b = 0; b < depth.size(); ++b) depth[b] = std::max(depth[b], of_function[b]);
    }
    return depth;
  }

  void name_elements() {
    const std::vector<u32> depth = depths();
    std::map<u32, std::size_t> most;  // statements of a PTX block in one block here
    for (const auto& shares : shares_)
      for (const auto& [block, share] : shares) most[block] = std::max(most[block], share.statements.size());
    for (const auto& [block, statements] : most) {
      if (const auto anchors = anchored_.find(block); anchors != anchored_.end()) {
        out_.elements[block].assign(anchors->second.begin(), anchors->second.end());
        if (out_.elements[block].size() > Map::kMostElements) out_.elements[block].resize(Map::kMostElements);
      } else if (!moved_out(block, depth)) {
        out_.elements[block] = {element_of(Map::kNone - 1 - block, "")};
      }
    }
    keys_ = keys(depth);
    for (u32 b = 0; b < shares_.size(); ++b)
      for (const auto& [block, share] : shares_[b])
        if (!hoisted(b, block, share, most[block], depth)) use(b, block, share, most[block]);
    for (Map::Block& b : out_.blocks) std::ranges::sort(b.uses, {}, &Map::Use::element);
    for (const auto& [statement, name] : named_)
      out_.kinds.push_back(name.empty()                               ? Map::Kind::Arithmetic
                           : orders(p_.statements()[statement], name) ? Map::Kind::Order
                                                                      : Map::Kind::Access);
  }

  void use(u32 b, u32 block, const Share& share, std::size_t most) {
    auto& uses = out_.blocks[b].uses;
    if (anchored_.contains(block)) {
      for (const auto& [element, u] : share.anchors)
        if (std::ranges::find(out_.elements[block], element) != out_.elements[block].end()) uses.push_back(u);
      return;
    }
    if (out_.elements[block].empty()) return;
    if (const auto key = keys_.find(block); key != keys_.end()) {
      u32 copies = 0;  // of the statement: the number of its instructions of the rarest name
      for (const auto& [what, count] : share.instructions)
        if (what.first == key->second) copies = copies ? std::min(copies, count) : count;
      if (copies && !out_.blocks[b].slow) uses.push_back({out_.elements[block].front(), 0, copies});
      return;
    }
    if (loose_ && !share.decides && share.statements.size() * 5 < most * 2) return;
    const u32 times = p_.blocks()[block].depth ? std::max(share.unrolled, share.middle()) : 1;
    uses.push_back({out_.elements[block].front(), 0, times});
  }

  const Program& p_;
  const Function& f_;
  const Graph& g_;
  const bool loose_;
  Map out_;
  std::map<u32, u32> keys_;  // of PTX blocks
  std::set<u32> asked_;      // statements whose machine code asks where a generic address is: global memory, mostly
  std::vector<bool> reached_;
  std::vector<u32> functions_;                // blocks where they begin
  std::vector<std::map<u32, Share>> shares_;  // by block here, by PTX block
  std::map<std::pair<u32, std::string_view>, u32> numbers_;
  std::vector<std::pair<u32, std::string_view>> named_;  // by element
  std::map<u32, std::set<u32>> anchored_;                // elements, by PTX block
  std::map<std::pair<u32, u32>, u32> wide_;              // bytes, by block here and element
};

}  // namespace

Map Map::make(const Program& p, const Function& f, const Graph& g, bool loose) { return Maker(p, f, g, loose).run(); }

}  // namespace us::sass
