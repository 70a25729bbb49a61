// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/range.h"

#include <algorithm>

#include "driver/context.h"
#include "driver/device.h"
#include "driver/memory/rights.h"
#include "driver/memory/virtual_memory.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {

// Mappings may follow each other; a copy may run over several that this device can read and write.
bool accessible(Runtime& runtime, u64 address, u64 extent, Access access, i32 device) {
  for (const u64 end = extent > ~address ? ~u64(0) : address + extent; address < end;) {
    u64 next = 0;
    if ((runtime.virtual_memory().rights(address, device, next) & access) != access) return false;
    address = next;
  }
  return true;
}

}  // namespace

MemoryRange range_at(const Context& c, u64 address, u64 extent, Access access, i32 device) {
  Runtime& runtime = c.runtime();
  const auto a = runtime.registry().find(address);
  if (!a)
    return {.device = false,
            .inside = !runtime.registry().overlaps(address, extent) && !runtime.in_device_range(address)};
  const bool own_range = !a->host();
  u64 end = a->address + a->bytes;
  if (a->kind == memory::Kind::Mapped) {
    const i32 whose = device < 0 ? static_cast<i32>(c.device().ordinal()) : device;
    return {.known = true, .device = true, .inside = accessible(runtime, address, extent, access, whose)};
  }
  if (own_range) end = std::max(end, runtime.device(a->device).heap().copied_end(address));
  return {.known = true,
          .device = own_range && a->kind != memory::Kind::Managed,
          .inside = extent <= end - address,
          .host_pool = a->host() && a->pool,
          .sync = a->sync,
          .write_delta = a->write_delta};
}

bool may_set(const Context& c, u64 address) {
  Runtime& runtime = c.runtime();
  return runtime.device_count() == 1 || runtime.rights().reach(c.device().ordinal(), address, true) > address;
}

bool on_device(const Context& c, u64 address, u64 extent) {
  const MemoryRange r = range_at(c, address, extent, kBoth);
  return address && r.known && r.inside;
}

}  // namespace us::driver
