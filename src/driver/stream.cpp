// SPDX-License-Identifier: Apache-2.0
#include "driver/stream.h"

#include <algorithm>

namespace us::driver {
namespace {

// CUstreamAttrID
constexpr int kAccessPolicyWindow = 1, kSynchronizationPolicy = 3, kPriority = 8, kMemSyncDomainMap = 9,
              kMemSyncDomain = 10;

bool kept(int id) {
  return id == kAccessPolicyWindow || id == kSynchronizationPolicy || id == kMemSyncDomainMap || id == kMemSyncDomain;
}

}  // namespace

Error Stream::set_attribute(int id, const void* value, u64 bytes) {
  if (!kept(id)) return Error::InvalidValue;
  const auto* first = static_cast<const u8*>(value);
  std::lock_guard l(m_);
  attributes_[id].assign(first, first + bytes);
  return Error::Success;
}

Error Stream::get_attribute(int id, void* value, u64 bytes) const {
  auto* out = static_cast<u8*>(value);
  if (id == kPriority) {
    std::memcpy(out, &priority_, sizeof priority_);
    return Error::Success;
  }
  if (!kept(id)) return Error::InvalidValue;
  std::lock_guard l(m_);
  const auto it = attributes_.find(id);
  if (it == attributes_.end())
    std::fill_n(out, bytes, u8{0});
  else
    std::copy_n(it->second.begin(), std::min<u64>(bytes, it->second.size()), out);
  return Error::Success;
}

void Stream::copy_attributes(const Stream& from) {
  if (this == &from) return;
  std::scoped_lock l(m_, from.m_);
  attributes_ = from.attributes_;
}

}  // namespace us::driver
