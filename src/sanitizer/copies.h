// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies of the lanes of a warp, by groups. A copy's bytes are marked with segments that are in flight;
// waiting makes them accesses of the lane that waited, at that time.
#pragma once
#include <deque>
#include <unordered_map>
#include <vector>

#include "base/types.h"

namespace us::sanitizer {

struct CopyGroup {
  std::vector<u32> shared_reads, shared_writes, global_reads, global_writes;  // segments
  bool empty() const {
    return shared_reads.empty() && shared_writes.empty() && global_reads.empty() && global_writes.empty();
  }
};
struct GroupsOfLane {
  CopyGroup open;
  std::deque<CopyGroup> committed;
};
// cp.async by all lanes of a warp, each behind its neighbour, on both sides: one segment, in which each lane's words
// are its own. They stay together as long as all lanes commit and wait together.
struct RowOfCopies {
  u32 segment = 0;
  u64 begin = 0;
  u32 bytes = 0;  // of a lane
  bool shared = false, writes = false;
};
struct RowGroups {
  std::vector<RowOfCopies> open;
  std::deque<std::vector<RowOfCopies>> committed;
  bool used = false;
  std::vector<RowOfCopies> spare;  // room of a group that has landed
};
struct LastCopy {  // of a warp, of the async proxy
  u32 site = 0, lane = 0, clock = 0;
  u64 from = 0, to = 0, bytes = 0, mbarrier = 0;
};
struct LastCommit {  // of a warp, of cp.async, since its last wait
  u32 site = 0, lanes = 0;
};
struct LaneCopies {
  std::unordered_map<u32, GroupsOfLane> plain, bulk;  // by lane
  RowGroups rows;                                     // while `plain` is empty
  LastCommit last_commit;
};

}  // namespace us::sanitizer
