// SPDX-License-Identifier: Apache-2.0
// Where findings go. Calls come from any thread.
#pragma once
#include "sanitizer/finding.h"

namespace us::sanitizer {

class Sink {
 public:
  virtual ~Sink() = default;
  // Told as often as it happens, or once in a while with counts: `times` and `blocks` of equal findings are added.
  virtual void found(const Finding&) = 0;
  virtual void judged(const std::string& /*kernel*/) {}                                // one launch of it
  virtual void not_judged(const std::string& /*what*/, const std::string& /*why*/) {}  // a kernel, a feature
};

}  // namespace us::sanitizer
