// SPDX-License-Identifier: Apache-2.0
// How evenly a launch's work falls on multiprocessors: CTAs are given out as others end, and may differ in their work.
#pragma once
#include <vector>

#include "base/types.h"

namespace us::timing {

// Statements of the PTX that a CTA executed: of the warp that has most of them, and of its average one.
struct CtaWork {
  u64 cta = 0;  // linear in the grid
  float most = 0, average = 0;
};

class Balance {
 public:
  // `resident`: CTAs of a multiprocessor at a time.
  Balance(const std::vector<CtaWork>&, u64 ctas, u32 sms, u32 resident);
  // `busy`: the part of the time in which schedulers issue. The busier they are, the more do CTAs slow each other down.
  void set(double busy);
  struct Of {
    double load = 1;  // of the multiprocessor that gets most; 1: what `sm` has, if CTA k runs on k modulo `sms`
    double each = 1;  // of an average CTA of those of `sm` behind its first `replayed`; 1: an average one of `some`
  };
  Of of(u32 sm, const std::vector<u32>& some, u64 replayed = 0) const;

 private:
  double weight(u64 cta) const { return (1 - busy_) * work_[cta].most + busy_ * work_[cta].average; }
  double load(const double* slots) const;
  double load_of(u32 sm) const;

  const u32 sms_, resident_;
  std::vector<CtaWork> work_;  // by CTA; empty: all have as much
  double busy_ = 0, most_ = 0;
};

}  // namespace us::timing
