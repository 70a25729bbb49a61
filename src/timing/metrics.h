// SPDX-License-Identifier: Apache-2.0
// Metrics of a launch by Nsight Compute's names (metrics.inc).
#pragma once
#include <optional>
#include <span>

#include "timing/launch_profile.h"

namespace us::timing {

enum class Section : u8 {
  SpeedOfLight,
  LaunchStats,
  Occupancy,
  InstructionStats,
  SchedulerStats,
  WarpStateStats,
  MemoryWorkloadAnalysis,
  MemoryWorkloadAnalysis_Tables,
  SourceCounters
};
struct SectionName {
  std::string_view name, title;
};
const SectionName& name_of(Section);
inline constexpr u32 kSections = 9;
// Sections of Nsight Compute that need what is not modelled yet.
std::span<const std::string_view> missing_sections();

struct Metric {
  std::string_view name;
  Section section;
  std::string_view label, unit;
  bool modelled = false;  // else counted
};
std::span<const Metric> metrics();
// Of a launch, in the order of metrics(); nothing where a ratio has no denominator.
std::vector<std::optional<double>> values_of(const LaunchProfile&);

}  // namespace us::timing
