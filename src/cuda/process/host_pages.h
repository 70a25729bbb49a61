// SPDX-License-Identifier: Apache-2.0
// The program's own accesses to pinned and managed memory, under `understudy check`: between two API calls, while no
// work is under way, pages that work has touched and that the program has not waited for cannot be accessed. An access
// there is judged once, and goes on.
#pragma once
#include <csignal>
#include <map>
#include <mutex>
#include <vector>

#include "sanitizer/host_order.h"

namespace us::cuda {

class HostPages {
 public:
  HostPages(sanitizer::HostOrder& order, const sanitizer::HostStack& stack) : order_(order), stack_(stack) {}
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;
  void call_begins();  // of the API, in any thread
  void call_ends();
  void release();

 private:
  static void on_fault(int signal, siginfo_t*, void* context);
  bool touched(u64 address, bool write, u64 instruction);
  void close(const std::vector<sanitizer::HostOrder::Unknown>&);
  static void open(u64 begin, u64 end);
  void open_all();
  sanitizer::HostStack::Addresses stack_from(u64 instruction) const;

  sanitizer::HostOrder& order_;
  const sanitizer::HostStack& stack_;
  std::mutex m_;                               // guards the members below
  std::map<u64, std::pair<u64, int>> closed_;  // by the first byte: the end, and what is allowed
  u32 calls_ = 0;                              // that threads are in
  u64 seen_ = 0;                               // pieces of work that had been submitted at the last wait
  u32 patience_ms_ = 1000;
  bool installed_ = false;
};

}  // namespace us::cuda
