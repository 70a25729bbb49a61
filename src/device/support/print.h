// SPDX-License-Identifier: Apache-2.0
// Device printf: formatting of one thread's call, and the buffer that holds output until the end of a grid.
#pragma once
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/types.h"

namespace us::device {

// Appends to `out`. `args` is packed as nvcc packs it: promoted types (int 4 bytes, double, long long and pointers 8),
// each at its natural alignment. Returns the number of arguments used, -1 without a format. Reads guest memory.
// `may_read` is asked before a string argument is read.
int format_printf(std::string& out, const char* format, const u8* args,
                  const std::function<void(const char*)>& may_read = {});

// Output of all grids, in order of the calls. When more than its capacity is written before a flush, the oldest calls
// are lost, as on hardware.
class PrintBuffer {
 public:
  PrintBuffer(u64 capacity, std::function<void(std::string_view)> sink);
  void add(std::string_view text, u64 cost);  // cost: bytes the call takes in the buffer
  void flush();
  void set_capacity(u64 bytes);

 private:
  struct Entry {
    std::string text;
    u64 cost;
  };
  std::mutex m_, sink_mutex_;
  std::deque<Entry> entries_;
  u64 used_ = 0, capacity_;
  std::function<void(std::string_view)> sink_;
};

}  // namespace us::device
