// SPDX-License-Identifier: Apache-2.0
#include "tools/exit_codes.h"
#include "tools/run.h"
#include "tools/terminal.h"

namespace us::tools {

int inspect_ptx(const std::string&, bool) {
  complain("ptx: not implemented yet");
  return kExitUsage;
}

}  // namespace us::tools
