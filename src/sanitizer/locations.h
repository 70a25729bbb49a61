// SPDX-License-Identifier: Apache-2.0
// Strong accesses of one word: its writes in the order in which they became visible, its reads and what each
// observed, and what a reader of the last write may acquire.
//
// PTX: two strong accesses of one span whose scopes include each other's thread are morally strong and never race. A
// write that was observed, by a read or through a chain of atomics, is ordered before all that follows the observer.
// A release pattern (release, or fence and strong write) synchronises with an acquire pattern (acquire, or strong
// read and fence) if the read observes the write and the first operation of the one and the last of the other are
// morally strong.
#pragma once
#include <memory>
#include <unordered_set>
#include <vector>

#include "probe/events.h"
#include "sanitizer/clocks.h"

namespace us::sanitizer {

struct Place {  // of a thread, as scopes see it
  u64 cta = 0, cluster = 0;
  u32 device = 0, domain = 0;
};
bool includes(probe::Scope, const Place& mine, const Place& other);

// Threads whose releases are one head.
class Releasers {
 public:
  void add(u64 thread) {
    if (of_.size() < kMost) of_.insert(thread);
  }
  void add(const Releasers& o) { of_.insert(o.of_.begin(), o.of_.end()); }
  bool perhaps(u64 thread) const { return of_.size() >= kMost || of_.contains(thread); }

 private:
  static constexpr std::size_t kMost = 1 << 14;
  std::unordered_set<u64> of_;
};

// What a release published: the first operation of the pattern.
struct Head {
  Ref node;
  Place place;
  probe::Scope scope = probe::Scope::Cta;
  u8 warp = 0, lane = 0;
  u32 site = 0;
  std::shared_ptr<Releasers> joined = {};  // of several threads
  u64 thread() const { return place.cta << 10 | u64{warp} << 5 | lane; }
};

struct Strong {
  u32 segment = 0;
  u8 lane = 0;
  probe::Scope scope = probe::Scope::Sys;
  bool rmw = false, linked = false;  // linked: observed the write before it
  bool is_volatile = false;
  bool async = false;  // of the async proxy: atomic with nothing of the generic one
  u32 site = 0;
  u64 begin = 0;
  u32 bytes = 0;
  u64 number = 0;  // a write: its own; a read: of the write that it observed, 0: none
  Place place;
};

struct Location {
  std::vector<Strong> writes, reads;
  std::vector<Head> heads;  // of the last write
  u64 numbered = 0;
  // All of one span, launch and device scope: who is too need not look at each.
  bool alike(const Strong&) const;
  void note(const Strong&);
  bool wide = true;
  Strong sample;
};

bool morally_strong(const Strong& a, const Strong& b);

}  // namespace us::sanitizer
