// SPDX-License-Identifier: Apache-2.0
#include "sass/graph.h"

#include <algorithm>
#include <set>

namespace us::sass {
namespace {

bool ends_block(const Instruction& i) { return i.flow() != Flow::Next && i.flow() != Flow::Region; }

u32 barrier_of(const std::vector<Access>& accesses) {
  for (const Access& a : accesses)
    if (a.bank == Bank::Barrier) return a.first;
  return Graph::kNone;
}

class Maker {
 public:
  explicit Maker(const Function& f) : f_(f), count_(static_cast<u32>(f.instructions.size())) {}

  Graph run() {
    make_blocks();
    for (u32 b = 0; b < g_.blocks.size(); ++b) link(b);
    join_regions();
    mark_reachable();
    for (u32 b = 0; b < g_.blocks.size(); ++b)
      for (const u32 s : g_.blocks[b].successors) g_.blocks[s].predecessors.push_back(b);
    find_post_dominators();
    return std::move(g_);
  }

 private:
  // The instruction at an offset; kNone if it lies outside.
  u32 at(u64 offset) const {
    return offset % 16 == 0 && offset / 16 < count_ ? static_cast<u32>(offset / 16) : Graph::kNone;
  }

  void make_blocks() {
    std::set<u32> leaders{0}, entries{0};
    for (const auto& [offset, name] : f_.places)
      if (const u32 i = at(offset); i != Graph::kNone) leaders.insert(i), entries.insert(i);
    for (u32 i = 0; i < count_; ++i) {
      const Instruction& inst = f_.instructions[i];
      if (inst.target)
        if (const u32 t = at(*inst.target); t != Graph::kNone) leaders.insert(t);
      if (ends_block(inst)) leaders.insert(i + 1);
      if (const auto list = f_.branch_targets.find(inst.offset); list != f_.branch_targets.end())
        for (const u64 offset : list->second)
          if (const u32 t = at(offset); t != Graph::kNone) leaders.insert(t);
    }
    g_.block_of.resize(count_);
    for (auto it = leaders.begin(); it != leaders.end() && *it < count_; ++it) {
      const auto next = std::next(it);
      Graph::Block b;
      b.first = *it;
      b.end = next == leaders.end() ? count_ : std::min(*next, count_);
      b.entry = entries.contains(*it);
      for (u32 i = b.first; i < b.end; ++i) g_.block_of[i] = static_cast<u32>(g_.blocks.size());
      g_.blocks.push_back(std::move(b));
    }
  }

  void go_to(u32 block, u32 instruction) {
    if (instruction >= count_) return;
    auto& list = g_.blocks[block].successors;
    const u32 to = g_.block_of[instruction];
    if (std::ranges::find(list, to) == list.end()) list.push_back(to);
  }

  void link(u32 b) {
    Graph::Block& block = g_.blocks[b];
    const Instruction& last = f_.instructions[block.end - 1];
    const u32 target = last.target ? at(*last.target) : Graph::kNone;
    switch (last.flow()) {
      case Flow::Branch:
        go_to(b, target);
        if (last.conditional) go_to(b, block.end);
        break;
      case Flow::Collective:
        go_to(b, target);
        go_to(b, block.end);
        break;
      case Flow::Indirect:
        if (const auto list = f_.branch_targets.find(last.offset); list != f_.branch_targets.end())
          for (const u64 offset : list->second) go_to(b, at(offset));
        else
          block.unknown_successors = block.leaves = true;
        if (last.conditional) go_to(b, block.end);
        break;
      case Flow::Return:
      case Flow::Exit:
        block.leaves = true;
        if (last.conditional) go_to(b, block.end);
        break;
      case Flow::Call:
        block.callee = last.target;
        go_to(b, block.end);
        break;
      case Flow::Join:
        if (last.conditional) go_to(b, block.end);
        break;  // join_regions
      case Flow::Next:
      case Flow::Region:
        go_to(b, block.end);
    }
  }

  // From each BSSY along all paths to the BSYNCs of its barrier. Their edges open ways for others, hence rounds.
  void join_regions() {
    for (bool changed = true; changed;) {
      changed = false;
      for (u32 i = 0; i < count_; ++i)
        if (f_.instructions[i].flow() == Flow::Region) changed |= join_region(i);
    }
    for (u32 b = 0; b < g_.blocks.size(); ++b)
      if (f_.instructions[g_.blocks[b].end - 1].flow() == Flow::Join && g_.blocks[b].successors.empty())
        go_to(b, g_.blocks[b].end);
  }

  bool join_region(u32 begin) {
    const Instruction& region = f_.instructions[begin];
    const u32 barrier = barrier_of(region.writes);
    const u32 target = region.target ? at(*region.target) : Graph::kNone;
    if (target == Graph::kNone) return false;
    bool changed = false;
    std::vector<bool> seen(g_.blocks.size());
    std::vector<u32> work;
    // Scans from an instruction to the end of its block; the paths on, unless the region ends here.
    const auto scan = [&](u32 b, u32 from) {
      for (u32 i = from; i < g_.blocks[b].end; ++i) {
        const Instruction& inst = f_.instructions[i];
        if (inst.flow() == Flow::Region && barrier_of(inst.writes) == barrier) return;
        if (inst.flow() == Flow::Join && barrier_of(inst.reads) == barrier) {
          const std::size_t before = g_.blocks[b].successors.size();
          go_to(b, target);
          changed |= g_.blocks[b].successors.size() != before;
          if (!inst.conditional) return;
        }
      }
      for (const u32 s : g_.blocks[b].successors)
        if (!seen[s]) seen[s] = true, work.push_back(s);
    };
    scan(g_.block_of[begin], begin + 1);
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      scan(b, g_.blocks[b].first);
    }
    return changed;
  }

  void mark_reachable() {
    g_.reachable.resize(g_.blocks.size());
    std::vector<u32> work;
    for (u32 b = 0; b < g_.blocks.size(); ++b)
      if (g_.blocks[b].entry) g_.reachable[b] = true, work.push_back(b);
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      for (const u32 s : g_.blocks[b].successors)
        if (!g_.reachable[s]) g_.reachable[s] = true, work.push_back(s);
    }
  }

  bool leaves(u32 b) const { return g_.blocks[b].leaves || g_.blocks[b].successors.empty(); }

  // Cooper, Harvey, Kennedy on the reversed graph; a virtual block behind all that leave.
  void find_post_dominators() {
    const u32 exit = static_cast<u32>(g_.blocks.size());
    std::vector<u32> order;  // postorder of the reversed graph
    std::vector<u32> number(exit + 1, Graph::kNone);
    std::vector<std::pair<u32, std::size_t>> stack{{exit, 0}};
    std::vector<u32> leaving;
    for (u32 b = 0; b < exit; ++b)
      if (leaves(b)) leaving.push_back(b);
    std::vector<bool> seen(exit + 1);
    seen[exit] = true;
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      const auto& list = b == exit ? leaving : g_.blocks[b].predecessors;
      if (next < list.size()) {
        const u32 p = list[next++];
        if (!seen[p]) seen[p] = true, stack.push_back({p, 0});
      } else {
        number[b] = static_cast<u32>(order.size());
        order.push_back(b);
        stack.pop_back();
      }
    }
    std::vector<u32> dominator(exit + 1, Graph::kNone);
    dominator[exit] = exit;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto it = order.rbegin(); it != order.rend(); ++it) {
        if (*it == exit) continue;
        u32 best = leaves(*it) ? exit : Graph::kNone;
        for (const u32 s : g_.blocks[*it].successors) {
          if (dominator[s] == Graph::kNone) continue;
          best = best == Graph::kNone ? s : meet(best, s, dominator, number);
        }
        if (best != dominator[*it]) dominator[*it] = best, changed = true;
      }
    }
    for (u32 b = 0; b < exit; ++b) g_.post_dominator.push_back(dominator[b] == exit ? Graph::kNone : dominator[b]);
  }

  static u32 meet(u32 a, u32 b, const std::vector<u32>& dominator, const std::vector<u32>& number) {
    while (a != b) {
      while (number[a] < number[b]) a = dominator[a];
      while (number[b] < number[a]) b = dominator[b];
    }
    return a;
  }

  const Function& f_;
  u32 count_;
  Graph g_;
};

}  // namespace

Graph make_graph(const Function& f) { return Maker(f).run(); }

}  // namespace us::sass
