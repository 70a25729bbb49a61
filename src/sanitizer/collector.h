// SPDX-License-Identifier: Apache-2.0
// Findings, each once: by check, sites and object. Counts the others and keeps the first as the example.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_set>

#include "sanitizer/finding.h"

namespace us::sanitizer {

class Collector {
 public:
  struct Key {
    Check check = Check::Count;
    std::string kernel;
    u32 a = 0, b = 0;    // sites
    std::string object;  // its kind or name: what one defect has in common
    bool operator<(const Key& o) const {
      const u32 low = std::min(a, b), high = std::max(a, b), its_low = std::min(o.a, o.b),
                its_high = std::max(o.a, o.b);
      return std::tie(check, low, high, kernel, object) < std::tie(o.check, its_low, its_high, o.kernel, o.object);
    }
  };
  // True: the caller makes a Finding of it and calls keep. It is new, or its parties are farther apart (`apart`) than
  // those of the example: what mends that one mends the others.
  bool count(const Key&, u64 block, u32 apart = 0);
  void keep(const Key&, Finding);
  template <class F>
  bool any(F&& wanted) const {  // of the findings so far
    return std::any_of(rows_.begin(), rows_.end(), [&](const auto& row) { return wanted(row.second.finding); });
  }
  std::vector<Finding> take();  // in the order in which they were found

 private:
  struct Row {
    Finding finding;
    u64 number = 0;
    u32 apart = 0;
    std::unordered_set<u64> blocks;
  };
  std::map<Key, Row> rows_;
};

}  // namespace us::sanitizer
