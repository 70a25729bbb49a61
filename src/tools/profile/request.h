// SPDX-License-Identifier: Apache-2.0
// What `understudy profile` was asked for.
#pragma once
#include "tools/run.h"

namespace us::tools {

struct ProfileRequest {
  RunRequest run;  // settings and the program
  std::string kernel, skip, count;
  std::vector<std::string> sections, metrics, assertions;
  bool csv = false;
  std::string page = "details", print_source = "cuda", json, save, import, baseline, junit, timeline, html;
};
int profile_program(const ProfileRequest&);

}  // namespace us::tools
