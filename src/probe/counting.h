// SPDX-License-Identifier: Apache-2.0
// The listener that only counts.
#pragma once
#include <vector>

#include "probe/listener.h"

namespace us::probe {

class Counting final : public Listener {
 public:
  Counting(u32 sites, u32 workers) : of_worker_(workers), sites_(sites) {}
  Strategy strategy() const override { return Strategy::Counts; }
  Count* counts(u32 worker) override;  // a worker asks for its own only
  void ended() override {}
  std::vector<Count> total() const;  // by site; of a launch that has ended

 private:
  std::vector<std::vector<Count>> of_worker_;
  const u32 sites_;
};

}  // namespace us::probe
