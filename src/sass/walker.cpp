// SPDX-License-Identifier: Apache-2.0
#include "sass/walker.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"

namespace us::sass {
namespace {

constexpr u32 kLookAhead = 4;  // blocks

// Executions from `at` on of which elements are used up: one mask each.
struct Place {
  std::size_t at = 0;
  std::vector<u64> used{};
  bool operator==(const Place&) const = default;
  u64 score() const {
    u64 n = at * Map::kMostElements;
    for (const u64 m : used) n += static_cast<u64>(std::popcount(m));
    return n;
  }
};

struct Step {
  u32 block = 0, calls = 0;
  Place place;
  std::tuple<bool, i64, bool, u32, bool, bool> rank{};  // the smallest is the best
};

class Walk {
 public:
  Walk(const Map& m, std::span<const u32> path, u32 patience, u64 most_steps)
      : map_(m), patience_(patience), left_(most_steps) {
    std::vector<u32> seen;
    for (const u32 p : path) {
      if (p >= m.elements.size()) continue;
      seen.push_back(p);
      if (!m.elements[p].empty()) executions_.push_back(p);
    }
    std::ranges::sort(seen);
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    foreign_.resize(m.blocks.size());
    for (u32 b = 0; b < m.blocks.size(); ++b)
      for (const u32 source : m.blocks[b].sources) foreign_[b] += !std::ranges::binary_search(seen, source);
  }

  std::optional<std::vector<u32>> run() {
    if (map_.blocks.empty()) return {};
    for (Place& start : use(0, {})) {
      stack_.clear();
      seen_.clear();
      push({0, 0, std::move(start), {}});
      while (!stack_.empty() && left_) {
        --left_;
        Frame& top = stack_.back();
        if (top.next == top.choices.size()) {
          if (top.may_end) return way();
          stack_.pop_back();
          continue;
        }
        if (top.ends_first) return way();
        Step s = std::move(top.choices[top.next++]);
        if (seen_.insert(key(s)).second) push(std::move(s));
      }
    }
    return {};
  }

  u64 left() const { return left_; }

 private:
  struct Next {
    u32 block = 0, calls = 0;
  };
  struct Call {  // that is open
    u32 before = 0, back = 0;
  };
  struct Frame {
    u32 block = 0;
    std::vector<Step> choices{};
    std::size_t next = 0;
    bool may_end = false, ends_first = false;
  };

  std::vector<u32> way() const {
    std::vector<u32> blocks;
    for (const Frame& f : stack_) blocks.push_back(f.block);
    return blocks;
  }

  static u64 key(const Step& s) {
    Hash h;
    h.word(s.block | u64{s.calls} << 32), h.word(s.place.at);
    for (const u64 m : s.place.used) h.word(m);
    return h.a;
  }

  void push(Step s) {
    Frame f{.block = s.block};
    const Map::Block& b = map_.blocks[s.block];
    f.ends_first = b.ends && s.place.at == executions_.size();
    f.may_end = b.ends && only_returns_behind(s.place);
    const std::vector<Next> next = behind(s.block, s.calls);
    for (const auto& [to, calls] : next) {
      for (Place& p : use(to, s.place)) {
        const bool near = s.place.at < executions_.size() &&
                          std::ranges::binary_search(map_.blocks[to].sources, executions_[s.place.at]);
        const i64 gain = gained(s.place, p),
                  ahead = gain || next.size() == 1 ? 0 : look_ahead({to, calls}, p, kLookAhead);
        f.choices.push_back(
            {to,
             calls,
             std::move(p),
             {map_.blocks[to].elsewhere, -gain - ahead, ahead > 0, foreign_[to], map_.blocks[to].slow, !near}});
      }
    }
    std::ranges::stable_sort(f.choices, {}, &Step::rank);
    stack_.push_back(std::move(f));
  }

  static i64 gained(const Place& from, const Place& to) {
    return static_cast<i64>(to.score()) - static_cast<i64>(from.score());
  }

  // What the best block behind blocks that use nothing would use up entirely: unrolled loops come before the rest.
  i64 look_ahead(Next at, const Place& from, u32 depth) {
    i64 best = 0;
    for (const Next& to : behind(at.block, at.calls))
      for (const Place& p : use(to.block, from)) {
        const i64 gain = gained(from, p);
        if (gain > 0 && p.used.empty()) best = std::max(best, gain);
        if (gain == 0 && depth > 1) best = std::max(best, look_ahead(to, p, depth - 1));
      }
    return best;
  }

  // Where a warp may go on, and which calls are open there.
  std::vector<Next> behind(u32 block, u32 calls) {
    const Map::Block& b = map_.blocks[block];
    std::vector<Next> out;
    for (const u32 to : b.next) out.push_back({to, b.back == Map::kNone || to == b.back ? calls : open(calls, b.back)});
    if (b.returns && calls) out.push_back({calls_[calls].back, calls_[calls].before});
    return out;
  }

  u32 open(u32 before, u32 back) {
    const auto [it, fresh] = number_of_.try_emplace(u64{before} << 32 | back, static_cast<u32>(calls_.size()));
    if (fresh) calls_.push_back({before, back});
    return it->second;
  }

  // A block that only returns has no place of its own where exits are guarded.
  bool only_returns_behind(const Place& p) const {
    if (p.at == executions_.size()) return true;
    if (p.at + 1 < executions_.size() || !p.used.empty()) return false;
    const auto& elements = map_.elements[executions_[p.at]];
    return elements.size() == 1 && map_.kinds[elements[0]] == Map::Kind::Arithmetic;
  }

  Map::Kind kind_of(u32 element) const { return map_.kinds[element]; }

  u64 whole(std::size_t execution) const {
    const std::size_t n = map_.elements[executions_[execution]].size();
    return n == Map::kMostElements ? ~u64{0} : (u64{1} << n) - 1;
  }

  Place tidy(const Place& p, const std::vector<u64>& used) const {
    Place out{p.at, {}};
    std::size_t first = 0;
    while (first < used.size() && out.at < executions_.size() && used[first] == whole(out.at)) ++first, ++out.at;
    std::size_t end = used.size();
    while (end > first && used[end - 1] == 0) --end;
    out.used.assign(used.begin() + static_cast<std::ptrdiff_t>(first), used.begin() + static_cast<std::ptrdiff_t>(end));
    return out;
  }

  // Where the path may stand behind one execution of the block: the farthest first.
  std::vector<Place> use(u32 block, const Place& from) const {
    const auto& uses = map_.blocks[block].uses;
    if (uses.empty()) return {from};
    std::vector<u32> spent(uses.size()), owed(uses.size());
    u64 debt = 0;
    for (std::size_t k = 0; k < uses.size(); ++k) debt += owed[k] = uses[k].surely;
    std::vector<u64> used = from.used;
    std::vector<std::size_t> ends;  // it may use those executions and no more
    const auto note = [&](std::size_t executions) {
      if (!debt) ends.push_back(executions);
    };
    u32 open = 0;
    bool behind = false;  // an access of an execution before is to come
    for (std::size_t k = 0;; ++k) {
      note(k);
      const std::size_t at = from.at + k;
      if (at >= executions_.size()) break;
      if (k >= used.size()) used.push_back(0);
      const auto& elements = map_.elements[executions_[at]];
      bool any = false;
      for (std::size_t e = 0; e < elements.size(); ++e) {
        if (used[k] >> e & 1 || (behind && kind_of(elements[e]) == Map::Kind::Order)) continue;
        const auto u = std::ranges::lower_bound(uses, elements[e], {}, &Map::Use::element);
        if (u == uses.end() || u->element != elements[e]) continue;
        const auto index = static_cast<std::size_t>(u - uses.begin());
        if (spent[index] >= u->at_most) continue;
        ++spent[index];
        used[k] |= u64{1} << e;
        any = true;
        if (owed[index]) --owed[index], --debt;
      }
      if (used[k] == whole(at)) continue;
      bool ordered = false;
      for (std::size_t e = 0; e < elements.size(); ++e) {
        if (used[k] >> e & 1) continue;
        behind |= kind_of(elements[e]) != Map::Kind::Arithmetic;
        ordered |= kind_of(elements[e]) == Map::Kind::Order;
      }
      if (ordered) {
        note(k + 1);
        break;
      }
      ++open;
      if (open > patience_ || (!any && open + 1 > patience_)) {
        note(k + 1);
        break;
      }
    }
    constexpr std::size_t kMostPlaces = 4;
    std::vector<Place> out;
    for (std::size_t k = ends.size(); k-- > 0 && out.size() < kMostPlaces;) {
      std::ranges::copy(from.used.begin() + static_cast<std::ptrdiff_t>(std::min(ends[k], from.used.size())),
                        from.used.end(), used.begin() + static_cast<std::ptrdiff_t>(std::min(ends[k], used.size())));
      used.resize(std::max(ends[k], from.used.size()));
      Place p = tidy(from, used);
      if (out.empty() || out.back() != p) out.push_back(std::move(p));
    }
    return out;
  }

  const Map& map_;
  const u32 patience_;
  u64 left_;
  std::vector<u32> executions_;  // PTX blocks of the path that have elements
  std::vector<u32> foreign_;     // by block: PTX blocks of its instructions that the path does not come through
  std::vector<Call> calls_{{}};  // by number; 0: none
  std::unordered_map<u64, u32> number_of_;
  std::vector<Frame> stack_;
  std::unordered_set<u64> seen_;
};

}  // namespace

std::optional<std::vector<u32>> Walker::walk(std::span<const u32> path, u32 patience, u64& steps) const {
  const u64 most = most_steps_ + 8 * path.size();
  Walk walk(map_, path, patience, most);
  auto found = walk.run();
  steps += most - walk.left() - (found ? std::min<u64>(most - walk.left(), found->size()) : 0);
  return found;
}

}  // namespace us::sass
