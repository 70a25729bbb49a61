// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/memory.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "driver/device.h"
#include "driver/graph/node.h"
#include "driver/runtime.h"

namespace us::driver {
namespace {
constexpr u64 kUnit = 32u << 20;  // what graphs take from a device at a time, as it is reported
u64 round_up(u64 v) { return (v + kUnit - 1) / kUnit * kUnit; }
}  // namespace

GraphBlock::~GraphBlock() {
  {
    std::lock_guard l(memory_.m_);
    memory_.blocks_.erase(address_);
  }
  Runtime& runtime = memory_.runtime_;
  if (runtime.registry().remove(address_)) runtime.device(device_).heap().free(address_);
}

std::unique_ptr<probe::Work> AllocParams::told(const Told& t) const { return t.allocation(block->address()); }

Error GraphMemory::allocate(Context& c, u32 device, u64 bytes, std::shared_ptr<GraphBlock>& out) {
  const u64 at = runtime_.device(device).heap().allocate(bytes);
  if (!at) return Error::OutOfMemory;
  runtime_.registry().add(
      {.address = at, .bytes = bytes, .kind = memory::Kind::Async, .flags = 0, .device = device, .owner = &c});
  out = std::make_shared<GraphBlock>(*this, device, at, bytes);
  std::lock_guard l(m_);
  blocks_[at] = out;
  return Error::Success;
}

std::shared_ptr<GraphBlock> GraphMemory::find(u64 address) const {
  std::lock_guard l(m_);
  const auto at = blocks_.find(address);
  return at == blocks_.end() ? nullptr : at->second.lock();
}

bool GraphMemory::live(u64 address) const {
  std::lock_guard l(m_);
  return live_.contains(address);
}

Error GraphMemory::start(const std::shared_ptr<GraphBlock>& b) {
  std::lock_guard l(m_);
  return live_.emplace(b->address(), b).second ? Error::Success : Error::InvalidValue;
}

Error GraphMemory::end(u64 address) {
  std::shared_ptr<GraphBlock> last;  // let go of without the lock
  std::lock_guard l(m_);
  const auto at = live_.find(address);
  if (at == live_.end()) return Error::InvalidValue;
  last = std::move(at->second);
  live_.erase(at);
  return Error::Success;
}

u64 GraphMemory::live_bytes(u32 device) const {
  u64 sum = 0;
  for (const auto& [at, b] : live_)
    if (b->device() == device) sum += b->bytes();
  return sum;
}

void GraphMemory::map(u32 device, u64 stream, u64 bytes, const NodeRef& last) {
  std::vector<NodeRef> over;  // let go of without the lock: an executable graph may end with them
  std::lock_guard l(m_);
  Use& u = use_[device];
  u64 sum = 0;
  auto& mine = u.running[stream];
  mine.first = std::max(mine.second.pending() ? mine.first : 0, round_up(bytes));
  over.push_back(std::exchange(mine.second, last));
  for (auto at = u.running.begin(); at != u.running.end();) {
    if (at->second.second.pending()) {
      sum += at++->second.first;
    } else {
      over.push_back(std::move(at->second.second));
      at = u.running.erase(at);
    }
  }
  u.used = std::max(u.used, sum);
  u.reserved = std::max(u.reserved, u.used);
  u.used_high = std::max(u.used_high, u.used);
  u.reserved_high = std::max(u.reserved_high, u.reserved);
}

Error GraphMemory::get(u32 device, int attribute, u64& out) const {
  std::lock_guard l(m_);
  const auto at = use_.find(device);
  static const Use kNone;
  const Use& u = at == use_.end() ? kNone : at->second;
  switch (attribute) {
    case UsedNow:
      out = u.used;
      return Error::Success;
    case UsedHigh:
      out = u.used_high;
      return Error::Success;
    case ReservedNow:
      out = u.reserved;
      return Error::Success;
    case ReservedHigh:
      out = u.reserved_high;
      return Error::Success;
    default:
      return Error::InvalidValue;
  }
}

Error GraphMemory::set(u32 device, int attribute, u64 value) {
  if (value != 0 || (attribute != UsedHigh && attribute != ReservedHigh)) return Error::InvalidValue;
  std::lock_guard l(m_);
  Use& u = use_[device];
  if (attribute == UsedHigh)
    u.used_high = u.used;
  else
    u.reserved_high = u.reserved;
  return Error::Success;
}

void GraphMemory::trim(u32 device) {
  std::lock_guard l(m_);
  Use& u = use_[device];
  u.used = u.reserved = round_up(live_bytes(device));
}

}  // namespace us::driver
