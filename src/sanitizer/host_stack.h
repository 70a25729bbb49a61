// SPDX-License-Identifier: Apache-2.0
// Where the program called from. Taken at each call that may matter, put into words when it does.
#pragma once
#include <functional>
#include <vector>

#include "probe/observer.h"

namespace us::sanitizer {

struct HostStack {
  using Addresses = std::vector<u64>;
  std::function<Addresses()> take;                            // of the calling thread
  std::function<probe::SiteInfo(const Addresses&)> in_words;  // innermost first
  std::function<Addresses()>
      take_script;  // the part of a program's that an interpreter runs; cheap where there is none
};

}  // namespace us::sanitizer
