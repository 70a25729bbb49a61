// SPDX-License-Identifier: Apache-2.0
#include "timing/metrics.h"

#include <array>

#include "timing/parameters.h"

namespace us::timing {
namespace {

using Value = std::optional<double>;
constexpr std::size_t kKinds = static_cast<std::size_t>(AccessKind::Copy) + 1;

Value ratio(u64 a, u64 b) { return b ? Value(static_cast<double>(a) / static_cast<double>(b)) : std::nullopt; }
Value percent(u64 a, u64 b) {
  const Value r = ratio(a, b);
  return r ? Value(100 * *r) : r;
}
Value value(u64 n) { return static_cast<double>(n); }
Value value(Value v) { return v; }

struct Sums {
  explicit Sums(const LaunchProfile& launch) : p(launch), r(launch.residency) {
    for (const SiteProfile& s : p.sites) {
      executed += s.executed;
      global_[static_cast<std::size_t>(s.kind)] += s.global;
      shared_[static_cast<std::size_t>(s.kind)] += s.shared;
      if (s.global.requests) bytes_[static_cast<std::size_t>(s.kind)] += s.executed.read + s.executed.written;
    }
  }
  const GlobalAccesses& global(AccessKind k) const { return global_[static_cast<std::size_t>(k)]; }
  const SharedAccesses& shared(AccessKind k) const { return shared_[static_cast<std::size_t>(k)]; }
  u64 global_bytes(AccessKind k) const { return bytes_[static_cast<std::size_t>(k)]; }
  GlobalAccesses all_global() const {
    GlobalAccesses all;
    for (const GlobalAccesses& a : global_) all += a;
    return all;
  }
  SharedAccesses all_shared() const {
    SharedAccesses all;
    for (const SharedAccesses& a : shared_) all += a;
    return all;
  }

  // As they are given out.
  u64 registers() const { return std::max(16u, r.registers); }
  bool timed() const { return p.no_time.empty() && t.cycles; }
  double nanoseconds() const { return static_cast<double>(t.picoseconds) / 1000; }
  // Cycles of warps per instruction that was issued.
  Value stalled(Stall why) const { return ratio(t.stalls[static_cast<u32>(why)], t.issued); }
  Value throughput(double bytes) const { return bytes / nanoseconds() * 1e9; }

  const LaunchProfile& p;
  const TimeProfile& t = p.time;
  const probe::Residency& r;
  probe::Count executed;
  const u64 threads = product(p.block), warps = (threads + 31) / 32, blocks = product(p.grid),
            cluster = product(p.cluster);

 private:
  static u64 product(const u32 (&n)[3]) { return u64{n[0]} * n[1] * n[2]; }
  std::array<GlobalAccesses, kKinds> global_;
  std::array<SharedAccesses, kKinds> shared_;
  std::array<u64, kKinds> bytes_{};
};

constexpr Metric kMetrics[] = {
#define US_METRIC(name, section, label, unit, expression) {name, Section::section, label, unit, false},
#define US_MODELLED(name, section, label, unit, expression) {name, Section::section, label, unit, true},
#include "timing/metrics.inc"
#undef US_METRIC
#undef US_MODELLED
};

constexpr SectionName kNames[] = {
    {"SpeedOfLight", "GPU Speed Of Light Throughput"},
    {"LaunchStats", "Launch Statistics"},
    {"Occupancy", "Occupancy"},
    {"InstructionStats", "Instruction Statistics"},
    {"SchedulerStats", "Scheduler Statistics"},
    {"WarpStateStats", "Warp State Statistics"},
    {"MemoryWorkloadAnalysis", "Memory Workload Analysis"},
    {"MemoryWorkloadAnalysis_Tables", "Memory Workload Analysis Tables"},
    {"SourceCounters", "Source Counters"},
};
static_assert(std::size(kNames) == kSections);

constexpr std::string_view kMissing[] = {
    "SpeedOfLight_RooflineChart",
    "ComputeWorkloadAnalysis",
    "MemoryWorkloadAnalysis_Chart",
    "WorkloadDistribution",
    "PmSampling",
};

}  // namespace

const SectionName& name_of(Section s) { return kNames[static_cast<std::size_t>(s)]; }
std::span<const std::string_view> missing_sections() { return kMissing; }
std::span<const Metric> metrics() { return kMetrics; }

std::vector<Value> values_of(const LaunchProfile& p) {
  using enum AccessKind;
  const Sums s(p);
  return {
#define US_METRIC(name, section, label, unit, expression) value(expression),
#define US_MODELLED(name, section, label, unit, expression) s.timed() ? value(expression) : std::nullopt,
#include "timing/metrics.inc"
#undef US_METRIC
#undef US_MODELLED
  };
}

}  // namespace us::timing
