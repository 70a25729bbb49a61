// SPDX-License-Identifier: Apache-2.0
#include "cuda/process/known_times.h"

#include <algorithm>

namespace us::cuda {

KnownTimes::Shape KnownTimes::shape(const probe::LaunchInfo& l) {
  Shape s{l.kernel, {}};
  std::ranges::copy(l.grid, s.numbers.begin());
  std::ranges::copy(l.block, s.numbers.begin() + 3);
  std::ranges::copy(l.cluster, s.numbers.begin() + 6);
  s.numbers[9] = l.shared_dynamic;
  return s;
}

// A kernel without a figure has none the next time.
void KnownTimes::modelled(const Shape& s, std::optional<timing::KernelTime> time, const Counted& c) {
  Known& k = of_[s];
  k.alike = !time ? kLikeIt : k.alike && k.counted.hash == c.hash ? k.alike + 1 : 1;
  k.counted = c, k.time = time;
}

KnownTimes::Answer KnownTimes::of(const Shape& s, const Counted& c) {
  Known& k = of_[s];
  Answer a{k.time, k.counted.l2_lines};
  if (!k.time || k.counted.hash == c.hash) return a;
  k.alike = 0;  // ask again
  a.scaled = true;
  const double more = static_cast<double>(c.warps) / static_cast<double>(std::max<u64>(1, k.counted.warps));
  a.time->active *= more, a.time->fences *= more;
  return a;
}

}  // namespace us::cuda
