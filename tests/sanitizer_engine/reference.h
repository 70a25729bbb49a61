// SPDX-License-Identifier: Apache-2.0
// A detector written for being right, not fast, and without a line of the engine: a vector clock per thread, and all
// accesses of each byte for ever. PTX ISA, memory consistency model: causality order is base causality (program order,
// synchronises-with, barriers) and observation followed by base causality.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "probe/events.h"

namespace us::reference {

using probe::Order;
using probe::Scope;

struct Thread {
  u32 number = 0, cta = 0, cluster = 0;
};

class Detector {
 public:
  explicit Detector(std::vector<Thread> threads);
  // True: races with something before, at this byte set; gives the bytes that do.
  std::set<u64> weak(u32 thread, u64 address, u32 bytes, bool writes);
  std::set<u64> strong(u32 thread, u64 address, u32 bytes, bool reads, bool writes, Order, Scope);
  std::set<u64> copy(u32 thread, u64 from, u64 to, u32 bytes);  // cp.async: into the thread's open group
  void commit(u32 thread);
  void wait(u32 thread, u64 left);
  void fence(const std::vector<u32>& threads, Order, Scope);
  void meet(const std::vector<u32>& arrive, const std::vector<u32>& leave);

 private:
  using Clock = std::vector<u32>;
  struct Head {
    Clock clock;
    u32 thread = 0;
    Scope scope = Scope::Cta;
  };
  struct Access {
    u32 thread = 0, time = 0;  // time 0: in flight
    bool writes = false, strong = false;
    Scope scope = Scope::Sys;
    u64 begin = 0;
    u32 bytes = 0;
    std::vector<std::map<u32, u32>> observers;  // by byte: the time of each thread's first
  };
  struct Last {  // the write whose value a strong read would see
    bool strong = false;
    std::size_t access = 0;
    std::vector<std::size_t> chain;  // it, and what it observed through atomics
    std::vector<Head> heads;
  };
  bool includes(Scope, u32 a, u32 b) const;
  bool ordered(const Access&, u32 thread, u64 byte) const;
  bool morally_strong(const Access&, const Access&) const;
  std::set<u64> judge(const Access&);
  std::size_t remember(const Access&);
  void tick(u32 thread) { clocks_[thread][thread]++; }
  void join(u32 thread, const Clock&);
  std::vector<Thread> threads_;
  std::vector<Clock> clocks_;
  std::vector<Access> accesses_;
  std::map<u64, std::vector<std::size_t>> of_byte_;
  std::map<u64, Last> last_;  // by byte
  std::vector<std::vector<Head>> fences_, pending_;
  std::vector<std::vector<std::size_t>> open_;
  std::vector<std::vector<std::vector<std::size_t>>> groups_;
};

}  // namespace us::reference
