// SPDX-License-Identifier: Apache-2.0
#include "sass/executed.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace us::sass {
namespace {

constexpr u32 kUsual = 2, kPatient = 8;
constexpr u64 kMostSteps = 1'000'000;  // of searches for a kernel that lead nowhere; then they are short
constexpr u64 kLong = 400'000, kShort = 4'000;
constexpr u64 kMostInVain = 1'500'000;  // .. for a launch; then warps whose way is not known have none
constexpr double kMostApart = 0.02;

u64 lanes_in(u32 mask) { return static_cast<u64>(std::popcount(mask)); }

}  // namespace

Execution::Execution(const Program& p, const Function& f)
    : program_(p),
      function_(f),
      graph_(make_graph(f)),
      map_(Map::make(p, f, graph_)),
      loose_map_(Map::make(p, f, graph_, true)),
      blocks_(graph_.blocks.size()),
      by_statement_(f.instructions.size()) {}

// Lanes are together as long as each step has all of them or none.
std::vector<Execution::Group> Execution::apart(std::span<const PathStep> path) {
  u32 all = 0;
  for (const PathStep& s : path) all |= s.lanes;
  std::vector<Group> groups{{all, {}}};
  for (const PathStep& s : path) {
    const std::size_t count = groups.size();
    for (std::size_t k = 0; k < count; ++k) {
      const u32 in = groups[k].lanes & s.lanes, out = groups[k].lanes & ~s.lanes;
      if (!in) continue;
      if (out) {
        groups.push_back({out, groups[k].blocks});
        groups[k].lanes = in;
      }
      groups[k].blocks.push_back(s.block);
    }
  }
  return groups;
}

const std::vector<u32>& Execution::way(const std::vector<u32>& path) {
  const auto known = ways_.find(path);
  if (known != ways_.end()) return known->second;
  static const std::vector<u32> none;
  if (steps_ > steps_before_ + kMostInVain) return none;
  searched_ += path.size();
  std::optional<std::vector<u32>> found = search(map_, path);
  const auto is_detour = [&](u32 b) { return program_.is_detour(b); };
  if (!found && std::ranges::any_of(path, is_detour)) {
    std::vector<u32> straight = path;
    std::erase_if(straight, is_detour);
    found = search(map_, straight);
  }
  const bool loose = !found;
  if (loose) found = search(loose_map_, path);
  by_arithmetic_[path] = loose && found.has_value();
  return ways_[path] = found ? with_subroutines(*found, path) : std::vector<u32>();
}

std::optional<std::vector<u32>> Execution::search(const Map& map, const std::vector<u32>& path) {
  std::optional<std::vector<u32>> found;
  for (const u32 patience : {kUsual, kPatient})
    if (!found) found = Walker(map, steps_ > kMostSteps ? kShort : kLong).walk(path, patience, steps_);
  return found;
}

// Behind each call of a subroutine the blocks of it: as the detours of its statement say, which are in order.
std::vector<u32> Execution::with_subroutines(const std::vector<u32>& way, const std::vector<u32>& path) const {
  std::vector<u32> out;
  out.reserve(way.size());
  std::map<u32, std::size_t> seen;  // of the path, for each statement
  for (const u32 b : way) {
    out.push_back(b);
    const Map::Block& from = map_.blocks[b];
    if (from.longest.empty()) continue;
    bool longest = true;
    if (from.detours != Map::kNone) {
      std::size_t& at = seen[from.detours];
      while (at < path.size() && path[at] != from.detours && path[at] != from.detours + 1) ++at;
      if (at < path.size()) longest = path[at++] != from.detours;
    }
    const std::vector<u32>& blocks = longest ? from.longest : from.shortest;
    out.insert(out.end(), blocks.begin(), blocks.end());
  }
  return out;
}

std::vector<Visit> Execution::visits(std::span<const PathStep> path) {
  std::map<const std::vector<u32>*, u32> together;  // whose ways are one
  std::map<std::vector<u32>, const std::vector<u32>*> same;
  for (const Group& g : apart(path)) {
    const std::vector<u32>& w = way(g.blocks);
    if (w.empty()) return {};
    together[same.emplace(w, &w).first->second] |= g.lanes;
  }
  std::vector<LanesOnWay> ways;
  for (const auto& [w, lanes] : together) ways.push_back({lanes, w});
  std::ranges::sort(ways, {}, [](const LanesOnWay& w) { return std::countr_zero(w.lanes); });
  return converge(map_, ways);
}

void Execution::forget_counts() {
  steps_before_ = steps_;
  blocks_.assign(blocks_.size(), {});
  by_statement_.assign(by_statement_.size(), {});
  walked_ = lost_ = loose_ = 0;
}

u64 Execution::add(std::span<const PathStep> path, u64 warps) {
  std::map<u32, Executed> of_block;
  for (const PathStep& s : path) {
    Executed& e = of_block[s.block];
    e.warps += warps;
    e.lanes += warps * lanes_in(s.lanes);
  }
  for (u32 i = 0; i < map_.statements.size(); ++i) {
    if (map_.statements[i] == Map::kNone) continue;
    const auto e = of_block.find(program_.statements()[map_.statements[i]].block);
    if (e == of_block.end()) continue;
    by_statement_[i].warps += e->second.warps;
    by_statement_[i].lanes += e->second.lanes;
  }
  const std::vector<Visit> all = visits(path);
  if (all.empty()) {
    lost_ += warps;
    return 0;
  }
  walked_ += warps;
  const auto is_loose = [&](const Group& g) { return by_arithmetic_[g.blocks]; };
  if (std::ranges::any_of(apart(path), is_loose)) loose_ += warps;
  u64 instructions = 0;
  for (const Visit& v : all) {
    // The device executes such a block once for each lane, with that lane alone.
    const u64 times = map_.blocks[v.block].for_each_lane ? lanes_in(v.lanes) : 1;
    blocks_[v.block].warps += warps * times;
    blocks_[v.block].lanes += warps * lanes_in(v.lanes);
    instructions += times * (graph_.blocks[v.block].end - graph_.blocks[v.block].first);
  }
  return instructions;
}

std::string Execution::weakness() const {
  if (lost_) return fmt::format("{} of {} warps have no way through the machine code", lost_, lost_ + walked_);
  u64 walked = 0, simple = 0;
  for (u32 b = 0; b < blocks_.size(); ++b) walked += blocks_[b].warps * (graph_.blocks[b].end - graph_.blocks[b].first);
  for (const Executed& e : by_statement_) simple += e.warps;
  const double most = static_cast<double>(std::max(walked, simple));
  const double apart = most > 0 ? (static_cast<double>(walked) - static_cast<double>(simple)) / most : 0;
  if (apart > kMostApart || apart < -kMostApart)
    return fmt::format("{} instructions by ways, {} by statements", walked, simple);
  return "";
}

}  // namespace us::sass
