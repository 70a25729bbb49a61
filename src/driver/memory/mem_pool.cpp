// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/mem_pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace us::driver {
namespace {

constexpr u64 kUnit = 512;
constexpr u64 kReserveUnit = 32u << 20;  // what a pool takes from the device at a time, as it reports it

u64 round_up(u64 v, u64 to) { return (v + to - 1) / to * to; }

}  // namespace

u64 MemPool::rounded(u64 bytes) { return round_up(bytes, kUnit); }

memory::Kind MemPool::memory_kind() const {
  switch (home_.kind) {
    case Home::Kind::Host:
      return memory::Kind::Host;
    case Home::Kind::Managed:
      return memory::Kind::Managed;
    default:
      return memory::Kind::Async;
  }
}

u64 MemPool::from_home(u64 bytes) {
  if (home_.kind != Home::Kind::Host) return heap_.allocate(bytes);
  return sharing_ == Sharing::Exportable ? from_file(bytes) : heap_.space().map(bytes);
}

u64 MemPool::from_file(u64 bytes) {
  constexpr u64 kPage = 4096;
  bytes = round_up(bytes, kPage);
  const int file = memfd_create("understudy-shared", MFD_CLOEXEC);
  if (file < 0) return 0;
  const u64 at = ftruncate(file, static_cast<off_t>(bytes)) == 0 ? heap_.space().map_file(bytes, file) : 0;
  if (at)
    files_[at] = {file, at, bytes};
  else
    close(file);
  return at;
}

void MemPool::to_home(u64 address, u64 bytes) {
  if (home_.kind != Home::Kind::Host)
    heap_.free(address);
  else if (const auto it = files_.find(address); it != files_.end()) {
    heap_.space().give(address, it->second.bytes);
    close(it->second.descriptor);
    files_.erase(it);
  } else
    heap_.space().give(address, bytes);
}

bool MemPool::share(u64 address, memory::SharedPages& out) {
  if (home_.kind != Home::Kind::Host) return heap_.share(address, out);
  std::lock_guard l(m_);
  const auto it = files_.find(address);
  if (it != files_.end()) out = it->second;
  return it != files_.end();
}

u64 MemPool::take(u64 bytes) {
  std::lock_guard l(m_);
  const u64 asked = std::exchange(bytes, rounded(bytes));
  if (max_bytes_ && taken_ + bytes > max_bytes_) return 0;
  u64 at = 0;
  if (const auto it = free_.find(bytes); it != free_.end()) {
    at = it->second;
    kept_ -= bytes;
    free_.erase(it);
  } else {
    at = from_home(bytes);
    if (!at) {
      release_down_to(0);
      at = from_home(bytes);
    }
  }
  if (!at) return 0;
  taken_ += bytes;
  used_ += asked;
  used_high_ = std::max(used_high_, used_);
  reserved_high_ = std::max(reserved_high_, round_up(reserved(), kReserveUnit));
  return at;
}

void MemPool::put(u64 address, u64 bytes) {
  std::lock_guard l(m_);
  used_ -= std::exchange(bytes, rounded(bytes));
  taken_ -= bytes;
  kept_ += bytes;
  free_.emplace(bytes, address);
}

void MemPool::release_down_to(u64 keep) {
  while (!free_.empty() && reserved() > keep) {
    const auto it = std::prev(free_.end());
    to_home(it->second, it->first);
    kept_ -= it->first;
    free_.erase(it);
  }
}

void MemPool::trim(u64 keep) {
  std::lock_guard l(m_);
  release_down_to(keep);
}

void MemPool::synchronized() {
  std::lock_guard l(m_);
  if (kept_) release_down_to(threshold_);
}

Error MemPool::get(int attribute, u64& value) const {
  std::lock_guard l(m_);
  switch (attribute) {
    case ReuseFollowEvents:
    case ReuseOpportunistic:
    case ReuseInternal:
      value = reuse_[attribute];
      return Error::Success;
    case ReleaseThreshold:
      value = threshold_;
      return Error::Success;
    case ReservedNow:
      value = round_up(reserved(), kReserveUnit);
      return Error::Success;
    case ReservedHigh:
      value = reserved_high_;
      return Error::Success;
    case UsedNow:
      value = used_;
      return Error::Success;
    case UsedHigh:
      value = used_high_;
      return Error::Success;
    default:
      return Error::InvalidValue;
  }
}

Error MemPool::set(int attribute, u64 value) {
  std::lock_guard l(m_);
  switch (attribute) {
    case ReuseFollowEvents:
    case ReuseOpportunistic:
    case ReuseInternal:
      reuse_[attribute] = value != 0;
      return Error::Success;
    case ReleaseThreshold:
      threshold_ = value;
      return Error::Success;
    case ReservedHigh:
      if (value != 0) return Error::InvalidValue;
      reserved_high_ = round_up(reserved(), kReserveUnit);
      return Error::Success;
    case UsedHigh:
      if (value != 0) return Error::InvalidValue;
      used_high_ = used_;
      return Error::Success;
    default:
      return Error::InvalidValue;
  }
}

void MemPool::set_reached_by(u32 device, bool on) {
  const u64 bit = u64{1} << device % kMostDevices;
  if (on)
    visitors_.fetch_or(bit);
  else
    visitors_.fetch_and(~bit);
}

}  // namespace us::driver
