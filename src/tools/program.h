// SPDX-License-Identifier: Apache-2.0
// Checks before a program is started: where it is, and whether it can use our libraries.
#pragma once
#include "base/types.h"

namespace us::tools {

struct Program {
  std::string path;  // empty: not found
  bool executable = false;
  bool thread_sanitizer = false;  // linked with its library, which has much thread-local data
  // It holds the CUDA runtime itself (libcudart_static), and its calls cannot be sent to ours.
  enum class OwnRuntime { None, Stripped, NoLoader } own_runtime = OwnRuntime::None;
};

std::string find_program(const std::string& name);  // as execvp would; also finds files that are not executable
Program examine_program(const std::string& name);

// LD_LIBRARY_PATH and the like: `first` in front of what is there.
std::string prepend(const std::string& first, const char* rest, char separator);

}  // namespace us::tools
