// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/finding.h"

#include <algorithm>
#include <array>

namespace us::sanitizer {

const CheckInfo& info(Check c) {
  static constexpr std::array<CheckInfo, static_cast<std::size_t>(Check::Count)> rows = {{
#define US_CHECK_ROW(id, name, severity, sentence) {name, Severity::severity, sentence},
#include "sanitizer/checks.inc"
#undef US_CHECK_ROW
  }};
  return rows[static_cast<std::size_t>(c)];
}

std::size_t own_frame(const probe::SiteInfo& s) {
  constexpr const char* kHeaders[] = {"/cooperative_groups/details/",
                                      "/include/cooperative_groups",
                                      "/include/cccl/",
                                      "/include/cuda/",
                                      "/include/cub/",
                                      "/include/thrust/",
                                      "/include/crt/",
                                      "/include/nv/",
                                      "/cuda/std/",
                                      "_intrinsics.hpp",
                                      "_atomic_functions.hpp",
                                      "/include/cuda_pipeline",
                                      "/include/cuda_awbarrier"};
  const auto of_toolkit = [&](const probe::Frame& f) {
    return std::ranges::any_of(kHeaders, [&](const char* h) { return f.file.find(h) != f.file.npos; });
  };
  const auto own =
      std::ranges::find_if(s.frames, [&](const probe::Frame& f) { return !f.file.empty() && !of_toolkit(f); });
  return own == s.frames.end() ? 0 : static_cast<std::size_t>(own - s.frames.begin());
}

}  // namespace us::sanitizer
