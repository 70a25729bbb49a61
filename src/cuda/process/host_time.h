// SPDX-License-Identifier: Apache-2.0
// What the threads of a profiled program spend on the host: calls by their kind, and, if asked for, the processor time
// between calls. Calls that calls make count nothing.
#pragma once
#include <string_view>

#include "base/types.h"

namespace us::cuda {

struct HostThread {
  u32 number = 0;    // 0: not one of the program's, or it has made no call yet
  u32 depth = 0;     // of open calls
  double since = 0;  // ns that nobody has taken yet
  bool counts_processor = false;
  u64 processor = 0;  // its time when it was looked at last
};
HostThread& host_thread();
void host_call_begins(std::string_view function, bool count_processor);
void host_call_ends(bool count_processor);
void host_works();  // outside of calls: up to now

}  // namespace us::cuda
