// SPDX-License-Identifier: Apache-2.0
// Checks before a program is started: where it is, and whether it can use our libraries.
#pragma once
#include "base/types.h"

namespace us::tools {

struct Program {
  std::string path;  // empty: not found
  bool executable = false;
  bool static_runtime = false;  // holds libcudart_static: its CUDA calls never reach us
  bool needs_preload = false;   // DT_RPATH comes before LD_LIBRARY_PATH
};

std::string find_program(const std::string& name);  // as execvp would; also finds files that are not executable
Program examine_program(const std::string& name);

// LD_LIBRARY_PATH and the like: `first` in front of what is there.
std::string prepend(const std::string& first, const char* rest, char separator);

}  // namespace us::tools
