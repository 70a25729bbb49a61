// SPDX-License-Identifier: Apache-2.0
// Memory that the program allocated and did not free. Calls come from any thread.
#pragma once
#include <map>
#include <mutex>

#include "sanitizer/host_stack.h"
#include "sanitizer/sink.h"

namespace us::sanitizer {

class HostMemory {
 public:
  HostMemory(Sink& sink, const HostStack& stack) : sink_(sink), stack_(stack) {}
  void memory(const probe::Memory&);
  void process_ends();

 private:
  struct Block {
    probe::Memory what;
    HostStack::Addresses stack;
  };
  void leaked(const Block&, const char* when);

  Sink& sink_;
  const HostStack& stack_;
  std::mutex m_;
  std::map<u64, Block> blocks_;  // by address
};

}  // namespace us::sanitizer
