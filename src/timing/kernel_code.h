// SPDX-License-Identifier: Apache-2.0
// The machine code of kernels, ready for counting and for the model of time; kept over the launches of a process.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "probe/observer.h"
#include "sass/executed.h"
#include "sass/image.h"
#include "timing/listing.h"
#include "timing/multiprocessor.h"

namespace us::timing {

struct KernelCode {
  KernelCode(std::shared_ptr<const sass::Image>, const sass::Function&, const Parameters&, u32 number);
  const std::shared_ptr<const sass::Image> image;
  const sass::Function& function;
  std::mutex m;  // guards execution: launches of several devices end at a time
  sass::Execution execution;
  using Shape = std::array<u64, 7>;
  std::set<Shape> asked;  // of launches, what would be if
  bool ran = false;
  TimedCode timed;
  std::shared_ptr<const Listing> listing;  // for reports
  void find_joined();
  std::vector<bool> calls;  // of each block of the PTX: it calls a function of the device's own
};

class KernelCodes {
 public:
  // Null, and why, where there is no machine code. Only while the observer is told of the launch.
  std::shared_ptr<KernelCode> of(const probe::LaunchInfo&, const Parameters&, std::string& why);

 private:
  std::mutex m_;
  std::map<std::pair<const sass::Image*, std::string>, std::shared_ptr<KernelCode>> known_;
};

}  // namespace us::timing
