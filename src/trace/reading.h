// SPDX-License-Identifier: Apache-2.0
// The file of a recorder, read back.
#pragma once
#include <string>
#include <vector>

#include "trace/record.h"

namespace us::trace {

inline constexpr u64 kMagic = 0x31737475'6e657665;
inline constexpr u64 kLongestName = 4096;

struct FileHeader {
  u64 magic = 0;
  u64 next = 0;       // bytes used
  u64 available = 0;  // bytes that may be touched
  u64 dropped = 0;    // records without room
  u32 process = 0;
  u32 reserved = 0;
};

struct Recording {
  u32 process = 0;
  u64 dropped = 0;
  std::vector<std::string> names;  // by id; 0 is empty
  std::vector<Call> calls;
  std::vector<Work> work;
  std::vector<Graph> graphs;
  std::vector<Compile> compiles;
};

Result<Recording> read_recording(const std::string& path);

}  // namespace us::trace
