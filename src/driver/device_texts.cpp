// SPDX-License-Identifier: Apache-2.0
#include "driver/device_texts.h"

#include <algorithm>
#include <cstring>

namespace us::driver {

u64 DeviceTexts::of(const char* text) {
  constexpr u64 kPage = 4096;
  std::lock_guard l(m_);
  u64& known = known_[text];
  if (known) return known;
  const u64 bytes = std::strlen(text) + 1;
  if (end_ - at_ < bytes) {
    const u64 take = std::max(kPage, bytes);
    at_ = space_.map(take);
    end_ = at_ ? at_ + take : 0;
    if (!at_) return 0;
  }
  std::memcpy(reinterpret_cast<void*>(at_), text, bytes);
  known = at_;
  at_ += bytes;
  return known;
}

}  // namespace us::driver
