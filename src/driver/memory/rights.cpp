// SPDX-License-Identifier: Apache-2.0
// The rules are those that two H200 were seen to follow (oracle/programs/api_two_devices_rights.txt).
#include "driver/memory/rights.h"

#include "driver/device.h"
#include "driver/memory/mem_pool.h"
#include "driver/memory/virtual_memory.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {
constexpr u64 kPage = 4096;
}

Error Rights::enable_peer(u32 device, u32 of) {
  std::lock_guard l(m_);
  return peers_.insert({device, of}).second ? Error::Success : Error::PeerAccessAlreadyEnabled;
}

Error Rights::disable_peer(u32 device, u32 of) {
  std::lock_guard l(m_);
  return peers_.erase({device, of}) ? Error::Success : Error::PeerAccessNotEnabled;
}

void Rights::forget_peers(u32 device) {
  std::lock_guard l(m_);
  std::erase_if(peers_, [&](const auto& p) { return p.first == device || p.second == device; });
}

u64 Rights::reach(u32 device, u64 address, bool write) const {
  for (u32 d = 0; d < runtime_.device_count(); ++d) {
    const memory::Heap& heap = runtime_.device(d).heap();
    if (heap.contains(address)) return d == device ? heap.end() : reach_of_other(device, d, address);
  }
  const u64 page_end = (address | (kPage - 1)) + 1;
  if (!runtime_.space().in_global(address)) return runtime_.registry().registered_page(address) ? page_end : 0;
  if (!runtime_.virtual_memory().any_mapping()) return page_end;
  constexpr u32 kReads = 1, kWrites = 2;
  u64 end = 0;
  const u32 rights = runtime_.virtual_memory().rights(address, static_cast<i32>(device), end);
  if (end <= address) return page_end;
  return rights & (write ? kWrites : kReads) ? end : 0;
}

// Modules' variables are never shared, and pools have rights of their own.
u64 Rights::reach_of_other(u32 device, u32 owner, u64 address) const {
  const auto a = runtime_.registry().find(address);
  if (!a) return (address | (kPage - 1)) + 1;  // nobody's: the access faults
  const u64 end = a->address + a->bytes;
  switch (a->kind) {
    case memory::Kind::Variable:
      return 0;
    case memory::Kind::Async:
      if (a->pool) return static_cast<const MemPool*>(a->pool)->reached_by(device) ? end : 0;
      [[fallthrough]];
    case memory::Kind::Device:
    case memory::Kind::Imported: {
      std::shared_lock l(m_);
      return peers_.contains({device, owner}) ? end : 0;
    }
    default:
      return end;
  }
}

}  // namespace us::driver
