// SPDX-License-Identifier: Apache-2.0
// What `understudy profile` was asked for.
#pragma once
#include "tools/run.h"

namespace us::tools {

// An empty page: details, or with virtual time the summary.
struct ProfileRequest {
  RunRequest run;  // settings and the program
  std::string kernel, skip, count, filter_mode;
  std::vector<std::string> sections, metrics, assertions;
  bool csv = false;
  bool virtual_time = false, host_clock = false;
  std::string cache_control, page, print_source = "cuda", print_units = "base", json, save, import, baseline, junit,
                                   timeline, html;
  std::string log;  // where the report goes; empty: to standard output
};
int profile_program(const ProfileRequest&);

}  // namespace us::tools
