// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/warp_control.h"

namespace us::codegen {

using ir::Terminator;

// Which blocks run with all lanes of a full warp, and which checks can be left out.
void WarpControl::find_full_blocks() {
  const u32 n = static_cast<u32>(f_.blocks.size());
  live_full_.assign(n, 0);
  meets_.assign(n, 0);
  if (!f_.entry || !m_.facts.full_warps() || m_.functions_exit) return;
  auto ends = [&](u32 b) {
    const auto kind = f_.blocks[b].term.kind;
    return kind == Terminator::Kind::Exit || kind == Terminator::Kind::Ret || kind == Terminator::Kind::Trap ||
           kind == Terminator::Kind::Unreachable;
  };
  auto reach = [&](std::vector<u32> work, const std::vector<std::vector<u32>>& ways) {
    std::vector<u8> seen(n, 0);
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (seen[b]) continue;
      seen[b] = 1;
      work.insert(work.end(), ways[b].begin(), ways[b].end());
    }
    return seen;
  };
  // Lanes end where a part of the warp exits; what comes after the branch that parted it may miss them.
  std::vector<u8> kills(n, 0);
  std::vector<u32> killing, behind;
  for (u32 b = 0; b < n; ++b) {
    kills[b] = a_.guarded[b] && ends(b);
    if (a_.divergent[b] || a_.guarded[b])
      for (u32 s : cfg_.succs[b]) kills[b] |= ir::is_exit_block(f_, s);
    if (kills[b]) killing.push_back(b);
  }
  const std::vector<u8> may_kill = reach(killing, cfg_.preds);
  for (u32 b = 0; b < n; ++b)
    if (a_.divergent[b] && may_kill[b]) behind.insert(behind.end(), cfg_.succs[b].begin(), cfg_.succs[b].end());
  const std::vector<u8> missing = reach(behind, cfg_.succs);
  for (u32 b = 0; b < n; ++b) live_full_[b] = !missing[b];
  // A sweep that leaves a part of the warp's block ends where all come together: there all lanes wait. What it passes
  // on its way, blocks of another arm of a uniform branch, it finds without lanes.
  const u32 end = static_cast<u32>(cfg_.layout.size());
  auto meeting = [&](u32 p) { return checked_[cfg_.layout[p]] && !a_.guarded[cfg_.layout[p]]; };
  std::vector<u32> meetings(end + 1, 0);  // before a position
  for (u32 p = 0; p < end; ++p) meetings[p + 1] = meetings[p] + meeting(p);
  std::vector<i32> passed(end + 1, 0);  // sweeps that begin to pass here, less those that end
  std::vector<u8> meets(n, 1);
  for (u32 b = 0; b < n; ++b) {
    if (position_[b] == ir::Cfg::kNone || !(a_.guarded[b] || a_.divergent[b])) continue;
    u32 together = cfg_.ipdom[b];
    while (together < n && a_.guarded[together]) together = cfg_.ipdom[together];
    const u32 from = position_[b] + 1;
    const u32 to = together < n && position_[together] >= from ? position_[together] : end;
    ++passed[from], --passed[to];
    if (together < n && (to == end || meetings[to] != meetings[from])) meets[together] = 0;
  }
  i32 passing = 0;
  for (u32 p = 0; p < end; ++p) {
    passing += passed[p];
    if (passing) meets[cfg_.layout[p]] = 0;
  }
  for (u32 b = 0; b < n; ++b) meets_[b] = checked_[b] && !a_.guarded[b] && live_full_[b] && meets[b];
}

}  // namespace us::codegen
