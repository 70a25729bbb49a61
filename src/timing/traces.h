// SPDX-License-Identifier: Apache-2.0
// Where the warps of a launch came through, and what those of some CTAs accessed.
#pragma once
#include <bit>
#include <functional>
#include <unordered_map>
#include <vector>

#include "probe/detour.h"
#include "probe/records.h"
#include "sass/executed.h"
#include "timing/balance.h"

namespace us::timing {

// What an access finds in L2: TimedAccess.
struct TimedCost {
  float cost = 0;
  bool behind = false;
  u32 event = 0;
  u64 pack() const { return std::bit_cast<u32>(cost) | u64{behind} << 32 | u64{event} << 33; }
  static TimedCost unpack(u64 w) {
    return {std::bit_cast<float>(static_cast<u32>(w)), (w >> 32 & 1) != 0, static_cast<u32>(w >> 33)};
  }
};

struct WarpTrace {
  std::vector<sass::PathStep> path{};
  std::vector<u64> accesses{};  // records, as probe::read_record reads them, and a word with TimedCost of each
  // The last look at an mbarrier, if it was in vain, or at memory that a loop waits for: one that follows takes its
  // place, because how often a loop looks is a matter of time. What was only read in between must be the same again.
  struct Look {
    u32 site = probe::kNoSite;
    u64 at = 0;  // lanes and addresses
    std::size_t path = 0, accesses = 0;
    u64 before = 0, between = 0;  // what was read before it since the last look, and behind it; 0: nothing
  } look{};
};
struct CtaTrace {
  u32 cta = 0;  // linear in the grid
  std::vector<WarpTrace> warps{};
};

class Traces {
 public:
  // `wanted`: whose accesses are kept, too.
  Traces(const sass::Program& p, u32 warps, std::function<bool(u32 cta)> wanted)
      : program_(p), warps_(warps), wanted_(std::move(wanted)) {}
  // And the words that it was read from; `cost` stands behind those of accesses.
  void add(const probe::Record&, const u64* begin, const u64* end, TimedCost cost = {});
  bool again(const probe::Record&);  // it would take the place of the look before it
  void enter_block(u32 cta, u32 warp, u32 site, u32 lanes, probe::Detour d) {
    Open& of = open(cta);
    if (warp >= of.trace.warps.size() || !lanes) return;
    if (d != probe::Detour::None && (partly_ |= steps_ > kMostDetoured) && !of.wanted) return;
    const u32 block = d == probe::Detour::None ? program_.block_of_site(site)
                                               : program_.detour_of_site(site, d == probe::Detour::Long);
    if (block != sass::Program::kNone) of.trace.warps[warp].path.push_back({block, lanes});
  }
  void end_cta(u32 cta);
  // Is there anything to add of an access of the CTA?
  bool hears(u32 cta) {
    const Open& of = open(cta);
    return of.wanted || of.looked;
  }
  std::size_t progress(const probe::Record& r) {  // blocks that its warp has come to
    const Open& of = open(r.cta);
    return r.warp < of.trace.warps.size() ? of.trace.warps[r.warp].path.size() : 0;
  }

  struct Path {
    std::vector<sass::PathStep> steps;
    u64 warps = 0;
    u32 number = 0;
    double statements = 0;
  };
  const std::unordered_map<u64, Path>& paths() const { return paths_; }  // different ones
  u64 left_out() const { return left_out_; }                             // warps whose paths did not fit
  std::vector<CtaTrace>& kept() { return kept_; }
  // Of each CTA. `instructions`: of the paths by number, where they are known; else their statements stand for them.
  std::vector<CtaWork> work(const std::vector<double>& instructions) const;
  void finish();  // CTAs that have not ended will not

 private:
  struct Open {
    CtaTrace trace;
    bool wanted = false, looked = false;
  };
  using OpenCtas = std::unordered_map<u32, Open>;
  Open& open(u32 cta) { return last_ && last_cta_ == cta ? *last_ : other(cta); }
  Open& other(u32 cta);
  Path& path_of(const WarpTrace&, u32 warp);
  void close(Open&);
  double statements_of(const WarpTrace&) const;

  const sass::Program& program_;
  const u32 warps_;
  const std::function<bool(u32)> wanted_;
  OpenCtas open_;
  std::vector<OpenCtas::node_type> spare_;  // of CTAs that have ended
  Open* last_ = nullptr;
  u32 last_cta_ = 0;
  std::unordered_map<u64, Path> paths_;
  std::vector<Path*> usual_;  // of each warp: the one before it had this
  std::vector<CtaTrace> kept_;
  struct Cta {
    u32 number = 0, begin = 0, end = 0;  // in numbers_
  };
  std::vector<Cta> ctas_;
  std::vector<u32> numbers_;  // of the paths of their warps
  // Where lanes take detours by chance, nearly all paths are different: behind so many steps only those of CTAs that
  // are wanted have them.
  static constexpr u64 kMostDetoured = 4'000'000;
  bool partly_ = false;
  u64 steps_ = 0, words_ = 0, left_out_ = 0;
};

}  // namespace us::timing
