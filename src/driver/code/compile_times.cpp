// SPDX-License-Identifier: Apache-2.0
#include "driver/code/compile_times.h"

#include <fmt/format.h>

namespace us::driver {
namespace {

constexpr CompileTimes::Time kWorthTelling = std::chrono::seconds(1);

double seconds(CompileTimes::Time t) { return std::chrono::duration<double>(t).count(); }

}  // namespace

void CompileTimes::add(const std::string& kernel, Time took) {
  std::lock_guard l(m_);
  all_ += took, times_++;
  if (took > longest_) longest_ = took, longest_kernel_ = kernel;
}

std::string CompileTimes::text(bool kept) const {
  std::lock_guard l(m_);
  if (all_ <= kWorthTelling) return {};
  const std::string what = times_ == 1 ? fmt::format("compiling {} took {:.1f} s", longest_kernel_, seconds(all_))
                                       : fmt::format("compiling took {:.1f} s: {} kernels, {:.1f} s of it {}",
                                                     seconds(all_), times_, seconds(longest_), longest_kernel_);
  return what + (kept ? "; the next run has the compiled code from the cache"
                      : "; without a cache (--cache DIR) the next run compiles again");
}

}  // namespace us::driver
