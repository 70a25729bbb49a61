// SPDX-License-Identifier: Apache-2.0
#include "ir/cfg.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace us::ir {
namespace {

using Graph = std::vector<std::vector<u32>>;

std::vector<u32> reverse_post_order(const Graph& succs, u32 root, std::vector<u32>& index) {
  index.assign(succs.size(), Cfg::kNone);
  std::vector<u32> post;
  std::vector<u8> seen(succs.size(), 0);
  std::vector<std::pair<u32, u32>> stack{{root, 0}};
  seen[root] = 1;
  while (!stack.empty()) {
    auto& [b, k] = stack.back();
    if (k < succs[b].size()) {
      const u32 s = succs[b][k++];
      if (!seen[s]) {
        seen[s] = 1;
        stack.push_back({s, 0});
      }
    } else {
      post.push_back(b);
      stack.pop_back();
    }
  }
  std::reverse(post.begin(), post.end());
  for (u32 i = 0; i < post.size(); ++i) index[post[i]] = i;
  return post;
}

// Semi-dominators with path compression (Georgiadis: SNCA). Blocks are counted in the order in which a depth-first
// search meets them; kNone where it does not come.
class Dominators {
 public:
  Dominators(const Graph& succs, const Graph& preds, u32 root) : number_(succs.size(), Cfg::kNone) {
    search(succs, root);
    const u32 n = static_cast<u32>(block_.size());
    std::vector<u32> idom = parent_;
    semi_.resize(n), best_.resize(n);
    for (u32 i = 0; i < n; ++i) semi_[i] = best_[i] = i;
    for (u32 i = n; i-- > 1;) {
      semi_[i] = parent_[i];
      for (u32 p : preds[block_[i]])
        if (number_[p] != Cfg::kNone) semi_[i] = std::min(semi_[i], semi_[lowest(number_[p], i + 1)]);
    }
    for (u32 i = 1; i < n; ++i)
      while (idom[i] > semi_[i]) idom[i] = idom[idom[i]];
    by_block_.assign(succs.size(), Cfg::kNone);
    for (u32 i = 0; i < n; ++i) by_block_[block_[i]] = block_[idom[i]];
  }
  std::vector<u32> by_block_;

 private:
  void search(const Graph& succs, u32 root) {
    std::vector<std::pair<u32, u32>> work{{root, 0}};  // block, number of where it was met
    while (!work.empty()) {
      const auto [b, from] = work.back();
      work.pop_back();
      if (number_[b] != Cfg::kNone) continue;
      number_[b] = static_cast<u32>(block_.size());
      block_.push_back(b);
      parent_.push_back(from);
      for (u32 s : succs[b])
        if (number_[s] == Cfg::kNone) work.push_back({s, number_[b]});
    }
  }
  // Of the ancestors down from `linked`, the one with the lowest semi-dominator; shortens the way for the next time.
  u32 lowest(u32 v, u32 linked) {
    if (parent_[v] < linked) return best_[v];
    std::vector<u32>& way = way_;
    do {
      way.push_back(v);
      v = parent_[v];
    } while (parent_[v] >= linked);
    for (u32 above = v; !way.empty(); above = v) {
      v = way.back();
      way.pop_back();
      parent_[v] = parent_[above];
      if (semi_[best_[above]] < semi_[best_[v]]) best_[v] = best_[above];
    }
    return best_[v];
  }

  std::vector<u32> number_, block_, parent_, semi_, best_, way_;
};

std::vector<u32> immediate_dominators(const Graph& succs, const Graph& preds, u32 root) {
  return Dominators(succs, preds, root).by_block_;
}

// A block's number is its place in the tree, children behind their parent; those below it follow it at once.
void number_dominators(Cfg& c) {
  std::vector<u32> size(c.succs.size(), 1), next(c.succs.size(), 0);
  for (std::size_t k = c.rpo.size(); k-- > 1;) size[c.idom[c.rpo[k]]] += size[c.rpo[k]];
  c.dom_first.assign(c.succs.size(), 0), c.dom_last.assign(c.succs.size(), 0);
  for (u32 b : c.rpo) {
    u32& first = c.dom_first[b];
    if (b != c.rpo[0]) first = next[c.idom[b]], next[c.idom[b]] += size[b];
    c.dom_last[b] = first + size[b] - 1;
    next[b] = first + 1;
  }
}

void find_loops(Cfg& c) {
  c.loop_of.assign(c.succs.size(), -1);
  std::vector<u32> in(c.succs.size(), Cfg::kNone);  // the header of the loop that was last found around a block
  // Headers from innermost outwards: later headers in reverse post-order first.
  for (std::size_t i = c.rpo.size(); i-- > 0;) {
    const u32 h = c.rpo[i];
    std::vector<u32> work;
    for (u32 p : c.preds[h]) {
      if (c.rpo_index[p] == Cfg::kNone || c.rpo_index[p] < i) continue;
      if (c.dominates(h, p))
        work.push_back(p);
      else
        c.irreducible = true;
    }
    if (work.empty()) continue;
    Loop loop;
    loop.header = h;
    in[h] = h;
    loop.blocks.push_back(h);
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (in[b] == h) continue;
      in[b] = h;
      loop.blocks.push_back(b);
      for (u32 p : c.preds[b])
        if (c.rpo_index[p] != Cfg::kNone) work.push_back(p);
    }
    const int id = static_cast<int>(c.loops.size());
    for (u32 b : loop.blocks) {
      if (c.loop_of[b] < 0) {
        c.loop_of[b] = id;
        continue;
      }
      int inner = c.loop_of[b];  // outermost known loop around b becomes our child
      auto parent = [&] { return c.loops[static_cast<std::size_t>(inner)].parent; };
      while (parent() >= 0 && parent() != id) inner = parent();
      c.loops[static_cast<std::size_t>(inner)].parent = id;
    }
    c.loops.push_back(std::move(loop));
  }
}

// Reverse post-order in which every loop is contiguous: order the body of each loop as one unit of its parent.
void build_layout(Cfg& c) {
  std::vector<u8> placed(c.succs.size(), 0);
  std::vector<int> seen(c.succs.size(), -2);  // by block: the loop whose units were last ordered when it was met
  std::function<void(int, u32)> place = [&](int loop, u32 root) {
    // Post-order over the units of this level; an inner loop is a unit entered at its header.
    std::vector<u32> post;
    auto unit = [&](u32 b) -> int {  // child loop of `loop` that contains b, or -1
      int l = c.loop_of[b], child = -1;
      while (l != loop && l >= 0) {
        child = l;
        l = c.loops[static_cast<std::size_t>(l)].parent;
      }
      return l == loop ? child : -2;  // -2: outside
    };
    auto key = [&](u32 b) {
      const int u = unit(b);
      return u >= 0 ? c.loops[static_cast<std::size_t>(u)].header : b;
    };
    auto unit_succs = [&](u32 k) {
      std::vector<u32> out;
      auto add = [&](u32 from) {
        for (u32 s : c.succs[from]) {
          if (unit(s) == -2) continue;
          const u32 ks = key(s);
          if (ks != k && ks != root) out.push_back(ks);
        }
      };
      const int u = unit(k);
      if (u >= 0)
        for (u32 b : c.loops[static_cast<std::size_t>(u)].blocks) add(b);
      else
        add(k);
      // Deeper reverse post-order first, so that the final order follows the function's own.
      std::sort(out.begin(), out.end(), [&](u32 a, u32 b) { return c.rpo_index[a] > c.rpo_index[b]; });
      out.erase(std::unique(out.begin(), out.end()), out.end());
      return out;
    };
    std::vector<std::pair<u32, std::vector<u32>>> stack;
    const u32 rk = root;
    seen[rk] = loop;
    auto root_succs = [&] {
      if (loop >= 0 || unit(root) < 0) {
        std::vector<u32> out;
        if (loop < 0 || c.loops[static_cast<std::size_t>(loop)].header == root) {
          for (u32 s : c.succs[root])
            if (unit(s) != -2 && key(s) != root) out.push_back(key(s));
        }
        std::sort(out.begin(), out.end(), [&](u32 a, u32 b) { return c.rpo_index[a] > c.rpo_index[b]; });
        out.erase(std::unique(out.begin(), out.end()), out.end());
        return out;
      }
      return unit_succs(root);
    };
    stack.push_back({rk, root_succs()});
    while (!stack.empty()) {
      auto& top = stack.back();
      if (top.second.empty()) {
        post.push_back(top.first);
        stack.pop_back();
        continue;
      }
      const u32 s = top.second.front();
      top.second.erase(top.second.begin());
      if (seen[s] != loop) {
        seen[s] = loop;
        stack.push_back({s, unit_succs(s)});
      }
    }
    std::reverse(post.begin(), post.end());
    for (u32 k : post) {
      const int u = unit(k);
      const bool self = loop >= 0 && k == c.loops[static_cast<std::size_t>(loop)].header;
      if (u >= 0 && !self)
        place(u, k);
      else if (!placed[k]) {
        placed[k] = 1;
        c.layout.push_back(k);
      }
    }
  };
  place(-1, c.rpo[0]);
}

}  // namespace

bool Cfg::dominates(u32 a, u32 b) const {
  if (rpo_index[a] == kNone || rpo_index[b] == kNone) return a == b;
  return dom_first[a] <= dom_first[b] && dom_first[b] <= dom_last[a];
}

bool DominatingBlocks::cover(const Cfg& c, u32 block) const {
  const auto behind = spans_.upper_bound(c.dom_first[block]);
  return behind != spans_.begin() && std::prev(behind)->second >= c.dom_first[block];
}

void DominatingBlocks::add(const Cfg& c, u32 block) {
  if (cover(c, block)) return;
  const auto from = spans_.lower_bound(c.dom_first[block]), to = spans_.upper_bound(c.dom_last[block]);
  spans_.erase(from, to);
  spans_.emplace(c.dom_first[block], c.dom_last[block]);
}

bool Cfg::in_loop(u32 block, int loop) const {
  for (int l = loop_of[block]; l >= 0; l = loops[static_cast<std::size_t>(l)].parent)
    if (l == loop) return true;
  return false;
}

bool is_exit_block(const Function& f, u32 block) {
  const Block& b = f.blocks[block];
  const bool ends = b.term.kind == Terminator::Kind::Exit || (f.entry && b.term.kind == Terminator::Kind::Ret);
  return ends && b.insts.empty();
}

void remove_unreachable(Function& f) {
  std::vector<u32> map(f.blocks.size(), Cfg::kNone), work{0};
  map[0] = 0;
  while (!work.empty()) {
    const u32 b = work.back();
    work.pop_back();
    for (BlockId t : f.blocks[b].term.targets)
      if (map[t.v] == Cfg::kNone) {
        map[t.v] = 0;
        work.push_back(t.v);
      }
  }
  std::vector<Block> kept;
  for (u32 b = 0; b < f.blocks.size(); ++b)
    if (map[b] != Cfg::kNone) {
      map[b] = static_cast<u32>(kept.size());
      kept.push_back(std::move(f.blocks[b]));
    }
  f.blocks = std::move(kept);
  for (Block& b : f.blocks) {
    b.preds.clear();
    for (BlockId& t : b.term.targets) t.v = map[t.v];
  }
  for (u32 b = 0; b < f.blocks.size(); ++b) {
    auto targets = f.blocks[b].term.targets;
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    for (BlockId t : targets) f.blocks[t.v].preds.push_back(BlockId{b});
  }
}

Cfg analyze_cfg(const Function& f, bool exits_leave) {
  Cfg c;
  const u32 n = static_cast<u32>(f.blocks.size());
  c.succs.resize(n);
  c.preds.resize(n);
  for (u32 b = 0; b < n; ++b) {
    for (BlockId t : f.blocks[b].term.targets)
      if (std::find(c.succs[b].begin(), c.succs[b].end(), t.v) == c.succs[b].end()) c.succs[b].push_back(t.v);
    for (u32 s : c.succs[b]) c.preds[s].push_back(b);
  }
  c.rpo = reverse_post_order(c.succs, 0, c.rpo_index);
  c.idom = immediate_dominators(c.succs, c.preds, 0);
  number_dominators(c);
  find_loops(c);
  if (!c.irreducible)
    build_layout(c);
  else
    c.layout = c.rpo;

  // Post-dominators on the reversed graph; endless loops hang on the exit through their header.
  c.exit_node = n;
  Graph fwd(n + 1), rev(n + 1);
  auto edge = [&](u32 from, u32 to) {
    fwd[from].push_back(to);
    rev[to].push_back(from);
  };
  for (u32 b = 0; b < n; ++b) {
    const bool skip = exits_leave && f.entry;
    u32 kept = 0;
    for (u32 s : c.succs[b])
      if (!(skip && is_exit_block(f, s))) {
        edge(b, s);
        ++kept;
      }
    if (kept == 0) edge(b, n);
  }
  auto reach_all = [&] {
    std::vector<u8> seen(n + 1, 0);
    std::vector<u32> work{n};
    seen[n] = 1;
    while (!work.empty()) {
      const u32 x = work.back();
      work.pop_back();
      for (u32 p : rev[x])
        if (!seen[p]) {
          seen[p] = 1;
          work.push_back(p);
        }
    }
    for (u32 b : c.rpo)
      if (!seen[b]) {
        edge(b, n);
        return false;
      }
    return true;
  };
  while (!reach_all()) {
  }
  c.ipdom = immediate_dominators(rev, fwd, n);
  return c;
}

// Blocks that reach `latch` without passing `header`.
static std::vector<u8> natural_loop(const Cfg& c, u32 header, u32 latch) {
  std::vector<u8> in(c.succs.size(), 0);
  in[header] = 1;
  std::vector<u32> work{latch};
  while (!work.empty()) {
    const u32 b = work.back();
    work.pop_back();
    if (in[b]) continue;
    in[b] = 1;
    for (u32 p : c.preds[b]) work.push_back(p);
  }
  return in;
}

// Does every way on from `latch` pass a block of the whole loop that is not in the loop of this back edge?
static bool is_inner_latch(const Cfg& c, const Loop& loop, u32 latch) {
  const std::vector<u8> own = natural_loop(c, loop.header, latch);
  const int id = static_cast<int>(&loop - c.loops.data());
  for (u32 s = c.ipdom[latch]; s < c.succs.size() && c.in_loop(s, id); s = c.ipdom[s])
    if (!own[s]) return true;
  return false;
}

static bool separate_one(Function& f) {
  const Cfg c = analyze_cfg(f, true);
  for (const Loop& loop : c.loops) {
    std::vector<u32> inner, outer;
    if (c.preds[loop.header].size() < 3) continue;  // one way in and one way back
    for (u32 p : c.preds[loop.header]) {
      if (!c.dominates(loop.header, p)) continue;
      (is_inner_latch(c, loop, p) ? inner : outer).push_back(p);
    }
    if (inner.empty() || outer.empty()) continue;
    const BlockId head{static_cast<u32>(f.blocks.size())};
    for (u32 b = 0; b < f.blocks.size(); ++b) {
      if (std::find(inner.begin(), inner.end(), b) != inner.end()) continue;
      for (BlockId& t : f.blocks[b].term.targets)
        if (t.v == loop.header) t = head;
    }
    Block block;
    block.term.kind = Terminator::Kind::Br;
    block.term.targets = {BlockId{loop.header}};
    block.term.loc = f.blocks[loop.header].term.loc;
    f.blocks.push_back(std::move(block));
    return true;
  }
  return false;
}

void separate_loops(Function& f) {
  for (std::size_t limit = 0; limit < 64 && separate_one(f); ++limit) {
  }
  remove_unreachable(f);
}

}  // namespace us::ir
