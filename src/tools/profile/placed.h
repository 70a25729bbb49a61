// SPDX-License-Identifier: Apache-2.0
// The work of the processes that were profiled, with the time and the place that the model gives it.
#pragma once
#include "timing/timeline.h"

namespace us::tools {

struct ProfiledWork {
  std::vector<timing::WorkProfile> work;
  std::vector<timing::ReusedTime> reused;
};

struct PlacedWork {
  timing::WorkProfile work;
  const timing::LaunchProfile* launch = nullptr;  // of a kernel that was modelled, or would have been
  std::optional<timing::ReusedTime> reused{};     // of one that was not
  timing::Timeline::Span span;
  bool timed() const {
    if (work.kind == timing::WorkProfile::Kind::Kernel)
      return launch ? launch->no_time.empty() : reused && reused->takes.share > 0;
    return work.kind != timing::WorkProfile::Kind::Join;
  }
};
struct PlacedProcess {
  u32 number = 0;
  std::vector<PlacedWork> work;  // in the order in which it was submitted
};
std::vector<PlacedProcess> placed(const std::vector<timing::LaunchProfile>&, const ProfiledWork&);

}  // namespace us::tools
