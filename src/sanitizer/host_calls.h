// SPDX-License-Identifier: Apache-2.0
// API calls of the program that fail, and launches whose error nobody asks for. Calls come from any thread.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "sanitizer/host_stack.h"
#include "sanitizer/sink.h"

namespace us::sanitizer {

// What an API call answered.
struct HostCall {
  std::string name;
  int result = 0;
  std::string result_name;  // "cudaErrorInvalidValue"
  bool launches = false;    // <<<>>>: its result is for those only who ask for the last error
  bool asks = false;        // for the last error
  bool frees = false;
  u64 argument = 0;  // the first one
};

class HostCalls {
 public:
  HostCalls(Sink& sink, const HostStack& stack) : sink_(sink), stack_(stack) {}
  void ended(const HostCall&);
  void process_ends();

 private:
  Finding finding(Check, const HostCall&, const HostStack::Addresses&) const;
  struct Open {
    HostCall call;
    HostStack::Addresses stack;
  };
  void unchecked(const Open&);

  Sink& sink_;
  const HostStack& stack_;
  std::mutex m_;
  std::map<std::thread::id, Open> open_;  // launches that failed and were not asked about
};

}  // namespace us::sanitizer
