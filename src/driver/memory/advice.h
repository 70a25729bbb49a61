// SPDX-License-Identifier: Apache-2.0
// What a program said about ranges of managed memory: cudaMemAdvise, cudaMemPrefetchAsync. The memory is where all
// sides reach it already, so this is kept only to be told again.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "driver/error.h"

namespace us::driver {

struct Location {
  // CUmemLocationType: 0 none, 1 device, 2 host, 3 host NUMA node, 4 the current one
  i32 type = 0, id = 0;
  auto operator<=>(const Location&) const = default;
};

class Advice {
 public:
  enum Kind : int { SetReadMostly = 1, UnsetReadMostly, SetPreferred, UnsetPreferred, SetAccessedBy, UnsetAccessedBy };
  struct Said {
    bool read_mostly = false;
    std::optional<Location> preferred, prefetched;
    std::set<Location> accessed_by;
    bool operator==(const Said&) const = default;
  };

  void advise(u64 at, u64 bytes, Kind, Location);
  void prefetched(u64 at, u64 bytes, Location);
  void forget(u64 at, u64 bytes);
  // The parts of the range, in order; a part nothing was said about is empty.
  std::vector<Said> said(u64 at, u64 bytes) const;

 private:
  template <class F>
  void change(u64 at, u64 bytes, F&&);
  void split(u64 at);
  mutable std::mutex m_;  // guards the members below
  struct Part {
    u64 end = 0;
    Said said;
  };
  std::map<u64, Part> parts_;  // by start, disjoint
};

}  // namespace us::driver
