// SPDX-License-Identifier: Apache-2.0
#include "memory/registry.h"

#include "probe/observer.h"

namespace us::memory {
namespace {

using Owner = probe::Memory::Owner;

Owner owner_of(const Allocation& a) {
  switch (a.kind) {
    case Kind::Device:
      return Owner::Device;
    case Kind::Managed:
      return Owner::Managed;
    case Kind::Host:
    case Kind::HostRegistered:
      return Owner::Host;
    case Kind::Variable:
      return Owner::Variable;
    case Kind::Async:
    case Kind::Mapped:
    case Kind::Imported:
    case Kind::ImportedHost:
      return Owner::Pool;
  }
  return Owner::Device;
}

// Not the program's to free by one call: graphs own the memory of their nodes.
bool is_mapping(const Allocation& a) {
  const bool of_graph = a.kind == Kind::Async && !a.pool;
  return of_graph || a.kind == Kind::Mapped || a.imported() || a.kind == Kind::HostRegistered;
}

void tell(probe::Observer& o, const Allocation& a, bool there, u64 node) {
  using Event = probe::Memory::Kind;
  const Event kind = is_mapping(a) ? there ? Event::Mapped : Event::Unmapped : there ? Event::Allocated : Event::Freed;
  o.memory({.kind = kind,
            .owner = owner_of(a),
            .begin = a.address,
            .bytes = a.bytes,
            .device = a.device,
            .node = node,
            .own_pages = (a.kind == Kind::Host || a.kind == Kind::Managed) && !a.pool && !is_mapping(a),
            .physical = a.physical});
}

}  // namespace

void Registry::add(Allocation a) {
  std::unique_lock l(m_);
  a.id = next_id_++;
  by_address_[a.address] = a;
  if (a.kind == Kind::HostRegistered) ++registered_;
  if (observer_) tell(*observer_, a, true, a.node);
}

std::optional<Allocation> Registry::remove(u64 address, u64 node) {
  std::unique_lock l(m_);
  const auto it = by_address_.find(address);
  if (it == by_address_.end()) return std::nullopt;
  const Allocation a = it->second;
  by_address_.erase(it);
  if (a.kind == Kind::HostRegistered) --registered_;
  if (observer_) tell(*observer_, a, false, node);
  return a;
}

void Registry::tell_ended(const Allocation& a) const {
  observer_->memory({.kind = probe::Memory::Kind::Unmapped,
                     .owner = owner_of(a),
                     .begin = a.address,
                     .bytes = a.bytes,
                     .device = a.device});
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
