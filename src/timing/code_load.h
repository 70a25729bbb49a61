// SPDX-License-Identifier: Apache-2.0
// What it takes the host to load code when it is launched for the first time (h200_timeline.inc).
#pragma once
#include <set>
#include <string>

#include "probe/observer.h"
#include "timing/parameters.h"

namespace us::timing {

// Of a module and one of its kernels.
struct CodeSizes {
  u64 kernels = 1, bytes = 0, variables = 0;  // bytes of machine code
  u64 kernel_bytes = 0;
};
// Without machine code the PTX says how much there may be.
CodeSizes code_sizes(const probe::LaunchInfo&, const sass::Image*);

double module_load(const Parameters&, const CodeSizes&);  // ns, once for a module
double kernel_load(const Parameters&, const CodeSizes&);  // ns, once for each kernel, beyond what a launch takes

// Of a process: what was launched before.
class LoadedCode {
 public:
  double load(const Parameters&, const probe::LaunchInfo&, const sass::Image*);  // ns; 0: it is there

 private:
  std::set<std::pair<const sass::Image*, u32>> modules_;  // without machine code told apart by their sizes
  std::set<std::string> kernels_;
};

}  // namespace us::timing
