// SPDX-License-Identifier: Apache-2.0
// The verbs. Each returns the exit code.
#pragma once
#include <map>

#include "base/types.h"

namespace us::tools {

struct RunRequest {
  std::map<std::string, std::string> settings;  // UNDERSTUDY_* variables to set
  std::vector<std::string> command;             // program and arguments, not empty
  std::string trace;                            // file; empty: none
  bool stats = false;
};
int run_program(const RunRequest&);

int show_info(const std::string& devices, bool json);
// `doctor`: a program, a library, or a directory of them; empty: the installation.
int show_needs(const std::string& what);
// `ptx --sass`. `ptxas`: a path, "none", or empty: looked for.
int inspect_sass(const std::string& file, const std::string& device, const std::string& ptxas, bool json);
int inspect_ptx(const std::string& file, const std::string& device, bool json);

}  // namespace us::tools
