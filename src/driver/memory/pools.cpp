// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/pools.h"

#include "driver/device.h"
#include "driver/runtime.h"

namespace us::driver {

MemPool& Pools::create(MemPool::Home home, u64 max_bytes, MemPool::Sharing sharing) {
  auto p = std::make_unique<MemPool>(runtime_.device(home.device).heap(), home, max_bytes, sharing);
  std::lock_guard l(m_);
  return *pools_.emplace(p.get(), std::move(p)).first->second;
}

Error Pools::destroy(const void* handle) {
  std::lock_guard l(m_);
  const auto it = pools_.find(handle);
  if (it == pools_.end()) return Error::InvalidValue;
  MemPool& p = *it->second;
  Device& d = runtime_.device(p.device());
  if (&d.pool() == &p) d.set_pool(d.default_pool());
  for (Standard& s : standards_)
    if (s.now == &p) s.now = s.original.get();
  p.set(MemPool::ReleaseThreshold, 0);
  p.trim(0);
  destroyed_.push_back(std::move(it->second));
  pools_.erase(it);
  return Error::Success;
}

MemPool* Pools::find(const void* handle) {
  for (u32 i = 0; i < runtime_.device_count(); ++i)
    if (MemPool& p = runtime_.device(i).default_pool(); &p == handle) return &p;
  std::lock_guard l(m_);
  for (const Standard& s : standards_)
    if (s.original.get() == handle) return s.original.get();
  const auto it = pools_.find(handle);
  return it == pools_.end() ? nullptr : it->second.get();
}

Pools::Standard& Pools::standard(MemPool::Home home) {
  for (Standard& s : standards_)
    if (s.original->home() == home) return s;
  auto p = std::make_unique<MemPool>(runtime_.device(home.device).heap(), home, 0);
  MemPool* const now = p.get();
  return standards_.emplace_back(std::move(p), now);
}

MemPool& Pools::original(MemPool::Home home) {
  if (home.kind == MemPool::Home::Kind::Device) return runtime_.device(home.device).default_pool();
  std::lock_guard l(m_);
  return *standard(home).original;
}

MemPool& Pools::current(MemPool::Home home) {
  if (home.kind == MemPool::Home::Kind::Device) return runtime_.device(home.device).pool();
  std::lock_guard l(m_);
  return *standard(home).now;
}

Error Pools::set_current(MemPool::Home home, MemPool& p) {
  if (p.home() != home || p.sharing() == MemPool::Sharing::Imported) return Error::InvalidValue;
  if (home.kind == MemPool::Home::Kind::Device) {
    runtime_.device(home.device).set_pool(p);
    return Error::Success;
  }
  std::lock_guard l(m_);
  standard(home).now = &p;
  return Error::Success;
}

void Pools::synchronized(Device& d) {
  d.default_pool().synchronized();
  std::lock_guard l(m_);
  for (const auto& [handle, p] : pools_)
    if (p->device() == d.ordinal()) p->synchronized();
  for (const Standard& s : standards_)
    if (s.original->device() == d.ordinal()) s.original->synchronized();
}

}  // namespace us::driver
