// SPDX-License-Identifier: Apache-2.0
// The fidelity report: what a run did, and where that was not exactly what the real device does.
#pragma once
#include <map>
#include <mutex>
#include <set>
#include <string_view>

#include "base/types.h"

namespace us {

// Why a run is not exact. Each kind collects names and how often each was met.
enum class Shortfall : u8 {
  StubbedCall,    // an API call answered with NOT_SUPPORTED
  Unimplemented,  // an instruction or feature that was reached and is not implemented
  Refused,        // an image, kernel or library that was turned away, whether or not the device would have taken it
  Ignored,        // a wish about speed that was accepted without effect: changes no result
  Approximate,    // an instruction computed within its bound, but not bit by bit
  // A kernel whose registers and stack are estimates, though the program asked for them or a launch depended on them.
  Estimated,
  NewerPtx,  // an image run from PTX of a newer architecture, where the device would run its machine code
  Count
};

class Report {
 public:
  void fact(std::string_view name, std::string_view text);           // "device": "h200"
  void count(std::string_view name, u64 n = 1);                      // "kernels launched"
  bool shortfall(Shortfall, std::string_view name, u64 times = 1);   // is it the first of its name?
  void resources(std::string_view kernel, std::string_view origin);  // where its registers and stack are known from
  bool exact() const;                                                // no shortfall that can change results so far
  std::string to_text() const;                                       // several lines, each ends in \n
  std::string to_json() const;

 private:
  using Counts = std::map<std::string, u64, std::less<>>;
  mutable std::mutex m_;  // guards the members below
  std::vector<std::pair<std::string, std::string>> facts_;
  Counts counts_;
  std::map<std::string, std::set<std::string>, std::less<>> resources_;
  Counts shortfalls_[static_cast<u32>(Shortfall::Count)];
};

}  // namespace us
