// SPDX-License-Identifier: Apache-2.0
// What is known of places (in bounds, only read) holds until memory comes or goes, or a launch begins: it is counted
// here, and what compiled code knows of places (probe::QuickSite) is taken back.
#pragma once
#include <cstdlib>
#include <memory>
#include <vector>

#include "probe/quick.h"

namespace us::sanitizer {

// Of a launch, by site.
class QuickSites {
 public:
  explicit QuickSites(u32 sites)
      : size_(sites), all_(static_cast<probe::QuickSite*>(std::calloc(sites + 1, sizeof(probe::QuickSite)))) {}
  const probe::QuickSite* data() const { return all_.get(); }
  void put(u32 site, const probe::QuickSite& s) {
    if (site >= size_ || !all_) return;
    if (s.bytes && !all_.get()[site].bytes) known_.push_back(site);
    all_.get()[site] = s;
  }
  void forget() {
    for (const u32 site : known_) all_.get()[site] = {};
    known_.clear();
  }

 private:
  struct Free {
    void operator()(probe::QuickSite* p) const { std::free(p); }
  };
  u32 size_;
  std::unique_ptr<probe::QuickSite, Free> all_;  // pages of it appear when they are touched
  std::vector<u32> known_;
};

class Changes {
 public:
  u64 count() const { return count_; }
  void note() {
    count_++;
    for (QuickSites* s : told_) s->forget();
  }
  void tell(QuickSites& s) { told_.push_back(&s); }
  void leave(QuickSites& s) { std::erase(told_, &s); }

 private:
  u64 count_ = 0;
  std::vector<QuickSites*> told_;
};

}  // namespace us::sanitizer
