// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/advice.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "tools/junit.h"
#include "tools/profile/source_view.h"

namespace us::tools {
namespace {

using timing::LaunchProfile, timing::SiteProfile, timing::WhatIf;

constexpr double kLeastSaved = 0.01, kLeastShare = 0.3;
constexpr double kFewThreads = 24;  // of a warp's 32

double ratio(u64 a, u64 b) { return b ? static_cast<double>(a) / static_cast<double>(b) : 0; }

class Rules {
 public:
  explicit Rules(const LaunchProfile& p) : p_(p) {}

  std::vector<Advice> all() {
    small_grid();
    tail();
    if (p_.no_time.empty() && p_.time.picoseconds) {
      coalesced();
      conflicts();
      occupancy();
      bound();
      stall();
    }
    divergence();
    std::ranges::stable_sort(out_, std::greater(), [](const Advice& a) { return a.saved.value_or(0); });
    return std::move(out_);
  }

 private:
  static u64 product(const u32 (&n)[3]) { return u64{n[0]} * n[1] * n[2]; }

  // Part of the duration that is gone without the cause; nothing: it was not asked, or hardly any.
  std::optional<double> saved(WhatIf what) const {
    const auto at = std::ranges::find(p_.what_ifs, what, &timing::WhatIfProfile::what);
    if (at == p_.what_ifs.end()) return {};
    const double part = 1 - ratio(at->picoseconds, p_.time.picoseconds);
    return part >= kLeastSaved ? std::optional(part) : std::nullopt;
  }

  // "a.cu:12": where `is` exceeds `ideal` most.
  template <class F>
  std::string worst(F&& excess) const {
    const SiteProfile* most = nullptr;
    for (const SiteProfile& s : p_.sites)
      if (!s.at.text.empty() && (!most || excess(s) > excess(*most))) most = &s;
    if (!most || !excess(*most)) return "";
    const auto& frames = most->at.frames;
    if (frames.empty() || frames[0].file.empty())
      return fmt::format("{} in line {} of the PTX", most->at.text, most->at.ptx_line);
    return fmt::format("{} at {}", most->at.text, short_place({frames[0].file, frames[0].line, "", {}}));
  }

  void coalesced() {
    const auto part = saved(WhatIf::Coalesced);
    if (!part) return;
    timing::GlobalAccesses all;
    for (const SiteProfile& s : p_.sites) all += s.global;
    out_.push_back(
        {"UncoalescedGlobalAccess", "Uncoalesced Global Accesses",
         fmt::format(
             "Global memory is accessed in {} sectors, where {} hold as many bytes; most of the excess is of {}. "
             "Let the lanes of a warp access neighbouring addresses.",
             all.sectors, all.ideal_sectors, worst([](const SiteProfile& s) { return s.global.excess(); })),
         part});
  }

  void conflicts() {
    const auto part = saved(WhatIf::NoBankConflicts);
    if (!part) return;
    timing::SharedAccesses all;
    for (const SiteProfile& s : p_.sites) all += s.shared;
    out_.push_back(
        {"SharedMemoryConflicts", "Shared Memory Bank Conflicts",
         fmt::format(
             "{} of {} wavefronts of shared memory repeat what conflicts of banks held up; most of them are of {}. "
             "Pad rows, or permute columns, so that lanes access different banks.",
             all.conflicts(), all.wavefronts, worst([](const SiteProfile& s) { return s.shared.conflicts(); })),
         part});
  }

  void occupancy() {
    const auto& r = p_.residency;
    const u64 warps = (product(p_.block) + 31) / 32 * r.blocks;
    const auto part = saved(WhatIf::OneMoreCta);
    if (!part || warps >= r.warps_per_sm) return;
    std::string by;
    for (const auto& [limit, name] : {std::pair(r.by_registers, "registers"),
                                      {r.by_shared, "shared memory"},
                                      {r.by_blocks, "the number of CTAs"},
                                      {r.by_warps, "the size of its CTAs"}})
      if (limit == r.blocks) by += (by.empty() ? "" : " and ") + std::string(name);
    out_.push_back(
        {"TheoreticalOccupancy", "Theoretical Occupancy",
         fmt::format(
             "A multiprocessor has room for {} of {} warps ({} CTAs), limited by {}. The estimate is of one CTA more.",
             warps, r.warps_per_sm, r.blocks, by),
         part});
  }

  void small_grid() {
    const u64 blocks = product(p_.grid), sms = p_.residency.sms;
    if (!sms || blocks >= sms) return;
    out_.push_back(
        {"LaunchConfiguration", "Small Grid",
         fmt::format(
             "The grid has {} CTAs and the device {} multiprocessors: {} of them do nothing. The estimate takes the "
             "same work on all of them.",
             blocks, sms, sms - blocks),
         1 - ratio(blocks, sms)});
  }

  void tail() {
    const u64 blocks = product(p_.grid), wave = u64{p_.residency.sms} * p_.residency.blocks;
    if (!wave || blocks <= wave || blocks % wave == 0) return;
    const double waves = ratio(blocks, wave), part = 1 - waves / std::ceil(waves);
    if (part < kLeastSaved) return;
    out_.push_back(
        {"LaunchConfiguration", "Tail Effect",
         fmt::format(
             "{} CTAs are {:.2f} waves of {}: the last one fills the device to {:.0f} %. The estimate is of CTAs that "
             "take equally long.",
             blocks, waves, wave, 100 * (waves - std::floor(waves))),
         part});
  }

  void bound() {
    if (p_.what_ifs.empty()) return;  // an earlier launch of the kernel with this shape was asked
    const double memory = saved(WhatIf::FastMemory).value_or(0), pipes = saved(WhatIf::FastPipes).value_or(0);
    if (std::max(memory, pipes) < kLeastShare / 3) return latency();
    const bool by_memory = memory >= pipes;
    out_.push_back(
        {"SOLBottleneck", by_memory ? "Memory Bound" : "Compute Bound",
         by_memory ? "L2 and DRAM give too few bytes a cycle. Read less, read it once, or keep it in shared memory and "
                     "registers."
                   : "Arithmetic pipes are full. Use fewer or cheaper instructions, packed types, or tensor cores.",
         by_memory ? memory : pipes});
  }
  void latency() {
    out_.push_back({"SOLBottleneck",
                    "Latency Issue",
                    "Neither the rates of memory nor those of arithmetic hold the kernel up: warps wait for latencies. "
                    "More warps, or "
                    "more independent instructions in each, hide them.",
                    {}});
  }

  void stall() {
    SourceCosts c;
    std::ranges::copy(p_.time.stalls, c.stalls);
    c.stalls[static_cast<u32>(timing::Stall::Selected)] = 0;
    const double share = ratio(c.stalls[static_cast<u32>(c.most())],
                               std::accumulate(std::begin(p_.time.stalls), std::end(p_.time.stalls), u64{0}));
    if (share < kLeastShare) return;
    out_.push_back(
        {"CPIStall",
         fmt::format("Stall: {}", name_of(c.most())),
         fmt::format(
             "Warps spend {:.1f} % of their time so, {:.1f} cycles for each instruction; --page source shows where.",
             100 * share, ratio(c.stalls[static_cast<u32>(c.most())], p_.time.issued)),
         {}});
  }

  void divergence() {
    const double lanes = ratio(p_.time.lanes, p_.time.warps);
    if (!p_.time.warps || lanes >= kFewThreads) return;
    out_.push_back({"ThreadDivergence",
                    "Thread Divergence",
                    fmt::format("Of a warp's 32 threads {:.1f} execute an instruction on average.", lanes),
                    {}});
  }

  const LaunchProfile& p_;
  std::vector<Advice> out_;
};

}  // namespace

std::vector<Advice> advice(const LaunchProfile& p) { return Rules(p).all(); }

std::string advice_text(const std::vector<Advice>& all) {
  std::string s;
  for (const Advice& a : all)
    s += fmt::format("    {} {} ({})\n          {}\n",
                     a.saved ? fmt::format("OPT   Est. Speedup: {:.1f} %:", 100 * *a.saved) : "INF  ", a.title, a.rule,
                     a.text);
  return s;
}

std::string advice_html(const std::vector<Advice>& all) {
  std::string s;
  for (const Advice& a : all)
    s += fmt::format("<p class=\"note advice\" data-rule=\"{}\"><b>{}</b>{}<br>{}</p>\n", a.rule, xml_escaped(a.title),
                     a.saved ? fmt::format(": saves up to {:.1f} %", 100 * *a.saved) : "", xml_escaped(a.text));
  return s;
}

}  // namespace us::tools
