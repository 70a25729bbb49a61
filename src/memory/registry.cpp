// SPDX-License-Identifier: Apache-2.0
#include "memory/registry.h"

namespace us::memory {

void Registry::add(Allocation a) {
  std::unique_lock l(m_);
  a.id = next_id_++;
  by_address_[a.address] = a;
  if (a.kind == Kind::HostRegistered) ++registered_;
}

std::optional<Allocation> Registry::remove(u64 address) {
  std::unique_lock l(m_);
  const auto it = by_address_.find(address);
  if (it == by_address_.end()) return std::nullopt;
  const Allocation a = it->second;
  by_address_.erase(it);
  if (a.kind == Kind::HostRegistered) --registered_;
  return a;
}

std::optional<Allocation> Registry::find(u64 address) const {
  std::shared_lock l(m_);
  auto it = by_address_.upper_bound(address);
  if (it == by_address_.begin()) return std::nullopt;
  --it;
  if (address - it->first >= it->second.bytes) return std::nullopt;
  return it->second;
}

bool Registry::set_sync(u64 address, bool on) {
  std::unique_lock l(m_);
  auto it = by_address_.upper_bound(address);
  if (it == by_address_.begin()) return false;
  --it;
  if (address - it->first >= it->second.bytes) return false;
  it->second.sync = on;
  return true;
}

bool Registry::overlaps(u64 address, u64 bytes) const {
  std::shared_lock l(m_);
  const auto it = by_address_.lower_bound(bytes > ~address ? ~u64(0) : address + bytes);
  if (it == by_address_.begin()) return false;
  const auto& a = std::prev(it)->second;
  return a.address + a.bytes > address;
}

bool Registry::registered_page(u64 address) const {
  constexpr u64 kPage = 4096;
  std::shared_lock l(m_);
  for (auto it = by_address_.lower_bound(address / kPage * kPage + kPage); it != by_address_.begin();) {
    const Allocation& a = (--it)->second;
    if (a.address + a.bytes <= address / kPage * kPage) return false;
    if (a.kind == Kind::HostRegistered) return true;
  }
  return false;
}

}  // namespace us::memory
