// SPDX-License-Identifier: Apache-2.0
#include "driver/order/stream.h"

#include <algorithm>

namespace us::driver {
namespace {
constexpr int kPriority = 8;  // CUstreamAttrID
}

void Stream::set_attribute(int id, const void* value, u64 bytes) {
  const auto* first = static_cast<const u8*>(value);
  std::lock_guard l(m_);
  attributes_[id].assign(first, first + bytes);
  any_attribute_ = true;
  if (id == kPriority) priority_ = *static_cast<const int*>(value);
}

bool Stream::get_attribute(int id, void* value, u64 bytes) const {
  if (!any_attribute_.load(std::memory_order_relaxed)) return false;
  std::lock_guard l(m_);
  const auto it = attributes_.find(id);
  if (it == attributes_.end()) return false;
  std::copy_n(it->second.begin(), std::min<u64>(bytes, it->second.size()), static_cast<u8*>(value));
  return true;
}

void Stream::copy_attributes(const Stream& from) {
  if (this == &from) return;
  std::scoped_lock l(m_, from.m_);
  attributes_ = from.attributes_;
  any_attribute_ = !attributes_.empty();
}

}  // namespace us::driver
