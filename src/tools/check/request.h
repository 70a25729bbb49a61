// SPDX-License-Identifier: Apache-2.0
// What `understudy check` was asked for.
#pragma once
#include <string>
#include <vector>

#include "sanitizer/journal.h"
#include "tools/run.h"

namespace us::tools {

struct CheckRequest {
  RunRequest run;  // settings and the program
  std::string tool = "all", checks, kernel, launch, leak_check = "no";
  std::string explore;  // schedules; empty: one
  u64 print_limit = 100;
  int error_exitcode = -1;  // -1: the usual one
  bool strict = false;
  std::vector<std::string> suppressions;
  std::string write_suppressions, json, sarif, junit, save, read;
};
int check_program(const CheckRequest&);

// The tool of compute-sanitizer's suite that a check belongs to: memcheck, racecheck, initcheck, synccheck.
const char* tool_of(sanitizer::Check);
// What --tool, --check and --leak-check choose.
Result<sanitizer::CheckSet> chosen_checks(const CheckRequest&);
std::string names_of(const sanitizer::CheckSet&);  // separated by commas

}  // namespace us::tools
