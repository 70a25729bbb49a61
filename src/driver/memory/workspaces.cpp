// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/workspaces.h"

#include <cstring>

#include "probe/observer.h"

namespace us::driver {

u64 Workspaces::take() {
  constexpr u64 kPage = 4096;
  std::lock_guard l(m_);
  if (free_.empty()) {
    const u64 page = space_.map(kPage);
    for (u64 at = page; page && at < page + kPage; at += kBytes) free_.push_back(at);
  }
  if (free_.empty()) return 0;
  const u64 at = free_.back();
  free_.pop_back();
  std::memset(reinterpret_cast<void*>(at), 0, kBytes);
  tell(at, true);
  return at;
}

void Workspaces::put(u64 at) {
  std::lock_guard l(m_);
  tell(at, false);
  free_.push_back(at);
}

void Workspaces::tell(u64 at, bool there) const {
  using Memory = probe::Memory;
  if (!observer_) return;
  observer_->memory({.kind = there ? Memory::Kind::Mapped : Memory::Kind::Unmapped,
                     .owner = Memory::Owner::Variable,
                     .begin = at,
                     .bytes = kBytes});
}

}  // namespace us::driver
