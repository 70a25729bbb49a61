// SPDX-License-Identifier: Apache-2.0
// What a check found: the parties, what is missing between them, and how to mend it.
#pragma once
#include <string>
#include <vector>

#include "probe/observer.h"

namespace us::sanitizer {

enum class Severity : u8 { Error, Warning, Note };

enum class Check : u8 {
#define US_CHECK_ROW(id, name, severity, sentence) id,
#include "sanitizer/checks.inc"
#undef US_CHECK_ROW
  Count
};

struct CheckInfo {
  const char* name;
  Severity severity;
  const char* sentence;
};
const CheckInfo& info(Check);

// The innermost frame that is not in a header of CUDA's toolkit, if there is one: the program's own line.
std::size_t own_frame(const probe::SiteInfo&);

struct Party {
  std::string action;    // "write", "read", "atomic", "bulk copy", "arrive", "wait", "allocated", "freed", ...
  probe::SiteInfo site;  // of kernels; of the host: frames of the call
  std::string who;       // "thread [32,0,0] (warp 1) of block [0,0,0]", "stream 0", "the host"
  u64 others = 0;        // lanes or threads more that did the same
  u64 launch = 0;        // whose kernel did it; 0: the host. Not kept in records
};

struct Finding {
  Check check = Check::Count;
  u64 launch = 0;
  std::string kernel;            // demangled; empty: of the host
  std::string object;            // "shared variable `s`, byte 128", "4 bytes at offset 16 of cudaMalloc(4096)"
  std::vector<Party> parties;    // the later one first
  std::vector<std::string> why;  // sentences: which edge is missing, what was there instead
  std::string fix;               // one sentence; may be empty
  u64 times = 1;
  u64 blocks = 1;  // in how many
  u32 seed = 0;    // of the schedule that showed it; 0: the usual one
};

}  // namespace us::sanitizer
