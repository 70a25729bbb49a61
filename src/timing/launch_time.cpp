// SPDX-License-Identifier: Apache-2.0
#include "timing/launch_time.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "timing/lines.h"

namespace us::timing {
namespace {

constexpr u64 kMostSmall = 16;  // CTAs that are replayed of a grid that has fewer than there are multiprocessors
constexpr u64 kReplayedSms = 2;
constexpr u64 kLeastL1 = 8192;                       // bytes
constexpr std::string_view kDevice = "NVIDIA H200";  // whose parameters there are
constexpr double kMostLost = 0.02;                   // of the warps
constexpr u64 kRounds = 6;                           // of CTAs that fill a multiprocessor

u64 product(const u32 (&n)[3]) { return u64{n[0]} * n[1] * n[2]; }

}  // namespace

LaunchTime::LaunchTime(std::shared_ptr<KernelCode> code, const LaunchProfile& p)
    : code_(std::move(code)),
      warps_(static_cast<u32>((product(p.block) + 31) / 32)),
      sms_(std::max(1u, p.residency.sms)),
      resident_(std::max(1u, p.residency.blocks)),
      ctas_(product(p.grid)),
      footprint_(static_cast<u64>(parameters_.l2_bytes)),
      traces_(*code_->image->program, warps_, [this](u32 cta) { return wanted(cta); }) {
  most_per_sm_ = std::max<u64>(kRounds * resident_, 16);
  step_ =
      ctas_ <= sms_ ? std::max<u64>(1, (ctas_ + kMostSmall - 1) / kMostSmall) : std::max<u64>(1, sms_ / kReplayedSms);
  for (const u32 site : code_->timed.sites)
    if (site != probe::kNoSite && slot_of_site_.size() <= site) slot_of_site_.resize(site + 1, ~0u);
}

bool LaunchTime::wanted(u32 cta) const { return cta % sms_ % step_ == 0 && cta / sms_ < most_per_sm_; }

void LaunchTime::add(const probe::Record& r, const u64* begin, const u64* end) {
  using Kind = probe::RecordCode::Kind;
  u64 kept[probe::kMostRecordWords + 1];
  if (r.code.kind == Kind::Block || r.code.kind == Kind::End || !r.lanes) return traces_.add(r, begin, end);
  u32 dram = 0;
  if (r.code.kind == Kind::Sync) {
    if (static_cast<probe::SyncOp>(r.code.bytes) == probe::SyncOp::BulkRows) dram = bring(r);
  } else if (r.code.space == probe::Space::Global) {
    dram = touch(r);
    if (r.code.kind == Kind::Write) written_ += dram, dram = 0;
  }
  read_ += dram;
  const auto n = static_cast<std::size_t>(end - begin);
  std::copy(begin, end, kept);
  kept[n] = dram;
  traces_.add(r, kept, kept + n + 1);
}

// The sectors of an access that L2 lacks.
u32 LaunchTime::touch(const probe::Record& r) {
  using Kind = probe::RecordCode::Kind;
  const u32 bytes = std::max(1u, r.code.bytes);
  if (r.code.kind != Kind::Atomic && r.lanes == ~0u && r.code.addresses == probe::RecordCode::Addresses::Row)
    return span(r.first, r.first + u64{probe::kLanes} * bytes);
  u32 dram = 0;
  for (const Lines::Line& l : Lines(r)) dram += static_cast<u32>(std::popcount(footprint_.touch(l.line, l.sectors)));
  if (r.code.kind == Kind::Atomic)
    for (u32 l = 0; l < probe::kLanes; ++l)
      if (r.lanes >> l & 1) ++atomics_[r.address(l)];
  return dram;
}

// ... and those from `first` to before `end`.
u32 LaunchTime::span(u64 first, u64 end) {
  u32 dram = 0;
  for (u64 line = first / kLineBytes; line * kLineBytes < end; ++line) {
    const u64 from = std::max(first, line * kLineBytes), to = std::min(end, (line + 1) * kLineBytes);
    const u32 low = static_cast<u32>(from % kLineBytes / kSectorBytes);
    const u32 high = static_cast<u32>((to - 1) % kLineBytes / kSectorBytes);
    dram += static_cast<u32>(std::popcount(footprint_.touch(line, (2u << high) - (1u << low))));
  }
  return dram;
}

// The sectors of a bulk copy that DRAM must give.
u32 LaunchTime::bring(const probe::Record& r) {
  const auto rows = probe::BulkRows::unpack(r.second);
  u32 dram = 0;
  for (u32 k = 0; k < rows.rows; ++k) {
    const u64 first = r.first + static_cast<u64>(i64{k} * rows.stride * 16), end = first + u64{rows.row} * 16;
    dram += span(first, end);
  }
  return dram;
}

// By the ways of all warps.
void LaunchTime::count(LaunchProfile& p) {
  sass::Execution& e = code_->execution;
  e.forget_counts();
  for (const auto& [hash, path] : traces_.paths()) e.add(path.steps, path.warps);
  p.time.lost = e.lost() + traces_.left_out();
  for (u32 b = 0; b < e.blocks().size(); ++b) {
    const u64 instructions = e.graph().blocks[b].end - e.graph().blocks[b].first;
    p.time.warps += e.blocks()[b].warps * instructions;
    p.time.lanes += e.blocks()[b].lanes * instructions;
  }
}

std::string LaunchTime::why_not(const LaunchProfile& p) const {
  if (p.residency.device != kDevice)
    return fmt::format("its parameters are those of an {}, and this is an {}", kDevice, p.residency.device);
  const auto calls = [&](const sass::PathStep& s) { return code_->calls[s.block]; };
  for (const auto& [hash, path] : traces_.paths())
    if (std::ranges::any_of(path.steps, calls))
      return "the kernel calls functions, and their machine code is not followed yet";
  const u64 warps = ctas_ * warps_;
  if (static_cast<double>(p.time.lost) > kMostLost * static_cast<double>(warps))
    return fmt::format("{} of {} warps have no way through the machine code", p.time.lost, warps);
  return "";
}

std::vector<TimedCta> LaunchTime::replayed() {
  u32 slots = 0;
  const std::vector<Row>& rows = code_->timed.rows;
  for (u32 k = 0; k < rows.size(); ++k)
    if (const u32 site = code_->timed.sites[k];
        site != probe::kNoSite &&
        (rows[k].pipe == Pipe::Memory || rows[k].kind == Row::Kind::Bulk || rows[k].kind == Row::Kind::BulkStore))
      if (slot_of_site_[site] == ~0u) slot_of_site_[site] = slots++;
  std::vector<TimedCta> out;
  for (const CtaTrace& c : traces_.kept()) {
    TimedCta cta{c.cta, {}};
    for (const WarpTrace& w : c.warps) {
      TimedWarp t;
      t.visits = code_->execution.visits(w.path);
      t.accesses.resize(slots);
      probe::Record r;
      for (const u64 *at = w.accesses.data(), *end = at + w.accesses.size(); at < end;) {
        const u64* const behind = probe::read_record(at, r);
        const u32 slot = r.site < slot_of_site_.size() ? slot_of_site_[r.site] : ~0u;
        if (slot != ~0u) t.accesses[slot].push_back({at, static_cast<u32>(*behind)});
        at = behind + 1;
      }
      cta.warps.push_back(std::move(t));
    }
    out.push_back(std::move(cta));
  }
  std::ranges::sort(out, {}, &TimedCta::cta);
  return out;
}

TimedLaunch LaunchTime::launch_of(const LaunchProfile& p) const {
  TimedLaunch l;
  l.code = code_->timed;
  l.slot_of_site = slot_of_site_;
  l.resident = resident_;
  l.active_sms = static_cast<u32>(std::min<u64>(sms_, ctas_));
  const u64 both = static_cast<u64>(parameters_.l1_and_shared);
  l.l1_bytes = both - std::min(both - kLeastL1, p.residency.shared_per_sm);
  const double all = static_cast<double>(footprint_.lines() * kLineBytes);
  l.written_back = std::max(0.0, 1 - parameters_.l2_bytes / std::max(1.0, all));
  return l;
}

std::vector<std::vector<const TimedCta*>> LaunchTime::by_multiprocessor(const std::vector<TimedCta>& ctas) const {
  std::map<u32, std::vector<const TimedCta*>> of;
  for (const TimedCta& c : ctas) of[c.cta % sms_].push_back(&c);
  std::vector<std::vector<const TimedCta*>> out;
  for (auto& [sm, list] : of) out.push_back(std::move(list));
  return out;
}

void LaunchTime::finish(LaunchProfile& p) {
  traces_.finish();
  const std::lock_guard held(code_->m);
  count(p);
  if (p.no_time = why_not(p); !p.no_time.empty()) return;
  TimeProfile& t = p.time;
  const std::vector<TimedCta> ctas = replayed();
  const TimedLaunch launch = launch_of(p);
  double longest = 0;
  for (const auto& list : by_multiprocessor(ctas)) {
    const SmTime sm = run_multiprocessor(launch, list, parameters_);
    double cycles = sm.cycles;
    // The CTAs that were not replayed go on at the pace of the later half of those that were.
    const u64 mine = (ctas_ - list.front()->cta % sms_ + sms_ - 1) / sms_;
    if (mine > list.size() && list.size() > 1) {
      std::vector<double> ends = sm.ends;
      std::ranges::sort(ends);
      const std::size_t half = ends.size() / 2;
      const double each = (ends.back() - ends[half - 1]) / static_cast<double>(ends.size() - half);
      cycles += each * static_cast<double>(mine - list.size());
    }
    longest = std::max(longest, cycles);
    ++t.replayed;
    t.replayed_cycles += static_cast<u64>(sm.cycles), t.issued += sm.issued, t.warp_cycles += sm.warp_cycles;
    t.l1_sectors += static_cast<u64>(sm.l1_sectors), t.l1_hits += static_cast<u64>(sm.l1_hits);
    t.shared_cycles += static_cast<u64>(sm.shared_cycles), t.l2_bytes += static_cast<u64>(sm.l2_bytes);
    for (const auto& row : sm.stalls)
      for (u32 k = 0; k < kStalls; ++k) t.stalls[k] += row[k];
  }
  if (!t.issued) {
    p.no_time = "no warp's way through the machine code was found";
    return;
  }
  u64 hottest = 0;
  for (const auto& [address, lanes] : atomics_) hottest = std::max(hottest, lanes);
  longest = std::max(longest, static_cast<double>(hottest) / parameters_.atomic_address);
  t.active = static_cast<u64>(longest);
  t.cycles = static_cast<u64>(longest + parameters_.launch_cycles);
  t.picoseconds = static_cast<u64>(static_cast<double>(t.cycles) * 1000 / parameters_.sm_clock);
  t.dram_read = read_ * kSectorBytes;
  t.dram_written = static_cast<u64>(launch.written_back * static_cast<double>(written_)) * kSectorBytes;
}

}  // namespace us::timing
