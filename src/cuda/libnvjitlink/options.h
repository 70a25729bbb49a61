// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cuda/libnvjitlink/types.h"
#include "ptx/fatbin.h"

namespace us::nvjitlink {

struct Options {
  std::vector<std::string> text;  // as they were given
  ptx::Target target;
  bool lto = false, ptx = false;  // link LTO-IR; hand out PTX, not a cubin
  u32 max_registers = 0;          // 0: no limit
};

Code read_options(u32 count, const char* const* given, Options& out);

}  // namespace us::nvjitlink
