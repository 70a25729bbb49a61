// SPDX-License-Identifier: Apache-2.0
#include "sass/program.h"

#include <algorithm>

#include "ir/sites.h"

namespace us::sass {

std::vector<u32> lines_of_sites(const ir::Module& m) {
  std::vector<u32> lines;
  for (const ir::Site& s : ir::sites(m)) lines.push_back(s.loc().file ? 0 : s.loc().line);
  return lines;
}

// Natural loops: of each edge back to a block above it in a walk's stack, all that reaches the edge without the head.
std::vector<u32> loop_depths(const std::vector<std::vector<u32>>& next, u32 entry) {
  const u32 count = static_cast<u32>(next.size());
  std::vector<u32> depth(count);
  if (entry >= count) return depth;
  std::vector<std::vector<u32>> before(count);
  for (u32 b = 0; b < count; ++b)
    for (const u32 s : next[b]) before[s].push_back(b);
  enum : u8 { Fresh, Open, Done };
  std::vector<u8> state(count, Fresh);
  std::vector<std::vector<bool>> body_of_head(count);
  std::vector<std::pair<u32, std::size_t>> stack{{entry, 0}};
  state[entry] = Open;
  const auto add_body = [&](u32 head, u32 tail) {
    auto& body = body_of_head[head];
    body.resize(count);
    body[head] = true;
    std::vector<u32> work{tail};
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (body[b]) continue;
      body[b] = true;
      for (const u32 p : before[b]) work.push_back(p);
    }
  };
  while (!stack.empty()) {
    auto& [b, at] = stack.back();
    if (at == next[b].size()) {
      state[b] = Done;
      stack.pop_back();
      continue;
    }
    const u32 s = next[b][at++];
    if (state[s] == Open) add_body(s, b);
    if (state[s] == Fresh) state[s] = Open, stack.push_back({s, 0});
  }
  for (const auto& body : body_of_head)
    for (u32 b = 0; b < body.size(); ++b) depth[b] += body[b];
  return depth;
}

Program::Program(const ir::Module& m, const std::vector<u32>& line_of_site) : module_(m) {
  block_of_site_.resize(m.sites, kNone);
  for (u32 k = 0; k < m.functions.size(); ++k) {
    const ir::Function& f = m.functions[k];
    const u32 first = static_cast<u32>(blocks_.size());
    first_block_.push_back(f.blocks.empty() ? kNone : first);
    std::vector<u32> begins, ends;  // of each block of the PTX: its first part, its last
    const auto begin = [&] {
      const u32 at = static_cast<u32>(statements_.size());
      blocks_.push_back({.function = k, .first = at, .end = at});
    };
    for (const ir::Block& b : f.blocks) {
      begins.push_back(static_cast<u32>(blocks_.size()));
      begin();
      bool called = false;
      const auto next = [&] {
        if (!called) return;
        blocks_.back().next = {static_cast<u32>(blocks_.size())};
        begin();
      };
      for (const ir::Inst& i : b.insts) {
        next();
        add(&i, nullptr, i.site, line_of_site);
        called = !i.call.empty();
      }
      if (b.term.site != ir::kNoSite) next(), add(nullptr, &b.term, b.term.site, line_of_site);
      ends.push_back(static_cast<u32>(blocks_.size()) - 1);
    }
    for (u32 b = 0; b < ends.size(); ++b)
      for (const ir::BlockId t : f.blocks[b].term.targets) {
        auto& next = blocks_[ends[b]].next;
        if (std::ranges::find(next, begins[t.v]) == next.end()) next.push_back(begins[t.v]);
      }
    find_depths(k, first);
  }
  add_detours();
}

// Quotients, reciprocals and roots.
static bool may_detour(const ir::Inst& i) {
  constexpr std::string_view forms[] = {"div_int", "rem_int",  "div_f32",  "div_f64",         "rcp_f32",
                                        "rcp_f64", "sqrt_f32", "sqrt_f64", "rsqrt_approx_f64"};
  return i.form != isa::Form::Unknown && std::ranges::find(forms, isa::info(i.form).id) != std::end(forms);
}

void Program::add_detours() {
  first_detour_ = static_cast<u32>(blocks_.size());
  detours_of_site_.resize(module_.sites, kNone);
  for (u32 k = 0; k < statements_.size(); ++k) {
    Statement& s = statements_[k];
    if (!s.inst || s.site >= detours_of_site_.size() || !may_detour(*s.inst)) continue;
    s.detours = detours_of_site_[s.site] = static_cast<u32>(blocks_.size());
    const Block b{.function = blocks_[s.block].function, .first = k, .end = k, .depth = blocks_[s.block].depth};
    blocks_.push_back(b), blocks_.push_back(b);
  }
}

void Program::add(const ir::Inst* inst, const ir::Terminator* term, u32 site, const std::vector<u32>& line_of_site) {
  const u32 line = site < line_of_site.size() ? line_of_site[site] : 0, index = static_cast<u32>(statements_.size());
  statements_.push_back({site, line, static_cast<u32>(blocks_.size() - 1), kNone, inst, term});
  blocks_.back().end = index + 1;
  if (site < block_of_site_.size()) block_of_site_[site] = statements_.back().block;
  if (!line) return;
  if (at_line_.size() <= line) at_line_.resize(line + 1, kNone);
  if (at_line_[line] == kNone) at_line_[line] = index;
}

void Program::find_depths(u32 function, u32 first) {
  std::vector<std::vector<u32>> next(blocks_.size() - first);
  for (u32 b = 0; b < next.size(); ++b)
    for (const u32 s : blocks_[first + b].next) next[b].push_back(s - first);
  if (module_.functions[function].blocks.empty()) return;
  const std::vector<u32> depths = loop_depths(next, 0);
  for (u32 b = 0; b < depths.size(); ++b) blocks_[first + b].depth = depths[b];
}

u32 Program::first_block_of(std::string_view function) const {
  for (u32 k = 0; k < module_.functions.size(); ++k)
    if (module_.functions[k].name == function) return first_block_[k];
  return kNone;
}

}  // namespace us::sass
