// SPDX-License-Identifier: Apache-2.0
// What a launch would take without one of the causes of waiting: what is replayed is changed, and replayed again.
#pragma once
#include <array>
#include <deque>

#include "timing/launch_profile.h"
#include "timing/multiprocessor.h"

namespace us::timing {

class Changed {
 public:
  // As it was, but for that.
  Changed(WhatIf, const TimedLaunch&, const std::vector<TimedCta>&, const Parameters&);
  bool any() const { return any_; }  // else nothing is different
  const TimedLaunch& launch() const { return launch_; }
  const std::vector<TimedCta>& ctas() const { return ctas_; }
  const Parameters& parameters() const { return parameters_; }

 private:
  void rewrite(TimedAccess&, probe::Space);
  void rewrite_all(probe::Space);
  void open_memory();
  template <class F>
  void for_each(F&& f);  // access

  TimedLaunch launch_;
  std::vector<TimedCta> ctas_;
  Parameters parameters_;
  std::deque<std::array<u64, 3>> records_;
  bool any_ = false;
};

}  // namespace us::timing
