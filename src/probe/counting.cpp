// SPDX-License-Identifier: Apache-2.0
#include "probe/counting.h"

namespace us::probe {

Count* Counting::counts(u32 worker) {
  std::vector<Count>& mine = of_worker_.at(worker);
  if (mine.empty()) mine.resize(sites_);
  return mine.data();
}

std::vector<Count> Counting::total() const {
  std::vector<Count> all(sites_);
  for (const std::vector<Count>& one : of_worker_)
    for (std::size_t k = 0; k < one.size(); ++k) all[k] += one[k];
  return all;
}

}  // namespace us::probe
