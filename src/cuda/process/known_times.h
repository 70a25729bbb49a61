// SPDX-License-Identifier: Apache-2.0
// Times of launches that need no model, because it was asked about launches like them: kLikeIt in a row of the same
// kernel and shape, whose instructions were executed as often.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>

#include "timing/launch_counts.h"
#include "timing/timeline.h"

namespace us::cuda {

class KnownTimes {
 public:
  static constexpr u32 kLikeIt = 3;
  struct Shape {
    std::string kernel;
    std::array<u64, 10> numbers{};
    auto operator<=>(const Shape&) const = default;
  };
  static Shape shape(const probe::LaunchInfo&);

  bool known(const Shape& s) const {
    const auto it = of_.find(s);
    return it != of_.end() && it->second.alike >= kLikeIt;
  }
  using Counted = timing::LaunchCounts::Counted;
  void modelled(const Shape&, std::optional<timing::KernelTime>, const Counted&);
  struct Answer {
    std::optional<timing::KernelTime> time;
    u64 l2_lines = 0;
    bool scaled = false;  // its counts are others: it takes as much longer as it has more instructions
  };
  Answer of(const Shape&, const Counted&);

 private:
  struct Known {
    u32 alike = 0;
    Counted counted;
    std::optional<timing::KernelTime> time;
  };
  std::map<Shape, Known> of_;
};

}  // namespace us::cuda
