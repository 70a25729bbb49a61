// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime.h"

#include <algorithm>

namespace us::driver {

Runtime::Runtime(Settings s) : settings_(std::move(s)), assembler_(settings_.ptxas, settings_.jit.cache_dir) {
  for (u32 i = 0; i < settings_.devices.size(); ++i)
    devices_.push_back(std::make_unique<Device>(*this, i, settings_.devices[i]));
}

Runtime::~Runtime() {
  own_contexts_.clear();
  for (auto& d : devices_) d->reset_primary();
  pools_.clear();
  standards_.clear();
  destroyed_pools_.clear();
  devices_.clear();
}

bool Runtime::in_device_range(u64 address) const {
  if (virtual_memory_.reserved(address)) return true;
  return std::any_of(devices_.begin(), devices_.end(), [&](const auto& d) { return d->heap().contains(address); });
}

codegen::Jit& Runtime::jit() {
  std::lock_guard l(jit_m_);
  if (!jit_) jit_ = std::make_unique<codegen::Jit>(settings_.jit);
  return *jit_;
}

void Runtime::report(std::string_view text) {
  if (settings_.report && !text.empty()) settings_.report(text);
}

Context& Runtime::create_context(u32 ordinal) {
  auto c = std::make_unique<Context>(*devices_[ordinal], false, next_context_id());
  std::lock_guard l(m_);
  return *own_contexts_.emplace(c.get(), std::move(c)).first->second;
}

Error Runtime::destroy_context(const void* handle) {
  std::unique_ptr<Context> gone;
  {
    std::lock_guard l(m_);
    const auto it = own_contexts_.find(handle);
    if (it == own_contexts_.end()) return Error::InvalidContext;
    gone = std::move(it->second);
    own_contexts_.erase(it);
  }
  return Error::Success;
}

Context* Runtime::find_context(const void* handle) {
  std::lock_guard l(m_);
  if (const auto it = contexts_.find(handle); it != contexts_.end()) return it->second;
  const auto green = greens_.find(handle);
  return green == greens_.end() ? nullptr : &green->second->context();
}

Error Runtime::create_green(u32 ordinal, std::shared_ptr<const SmSet> sms, GreenContext*& out) {
  auto g = std::make_shared<GreenContext>(*devices_[ordinal], std::move(sms), next_context_id());
  g->open();
  out = g.get();
  std::lock_guard l(m_);
  greens_.emplace(out, std::move(g));
  return Error::Success;
}

Error Runtime::destroy_green(const void* handle) {
  std::shared_ptr<GreenContext> gone;
  {
    std::lock_guard l(m_);
    const auto it = greens_.find(handle);
    if (it == greens_.end()) return Error::InvalidContext;
    gone = std::move(it->second);
    greens_.erase(it);
  }
  gone->close();
  return Error::Success;
}

GreenContext* Runtime::find_green(const void* handle) {
  std::lock_guard l(m_);
  const auto it = greens_.find(handle);
  return it == greens_.end() ? nullptr : it->second.get();
}

bool Runtime::busy() const {
  for (const Context* c : contexts())
    if (c->busy()) return true;
  return false;
}

void Runtime::after_all_work(const std::shared_ptr<void>& last) {
  for (Context* c : contexts()) c->after_all_work(last);
}

std::vector<Context*> Runtime::contexts() const {
  std::lock_guard l(m_);
  std::vector<Context*> all;
  for (const auto& [handle, c] : contexts_) all.push_back(c);
  return all;
}

std::shared_ptr<Stream> Runtime::find_stream(const void* handle) {
  for (Context* c : contexts())
    if (auto s = c->find_stream(handle)) return s;
  return nullptr;
}

std::shared_ptr<Event> Runtime::find_event(const void* handle) {
  for (Context* c : contexts())
    if (auto e = c->find_event(handle)) return e;
  return nullptr;
}

Context* Runtime::context_of_function(const void* handle) {
  for (Context* c : contexts())
    if (c->find_function(handle)) return c;
  return nullptr;
}

Context* Runtime::context_of_module(const void* handle) {
  for (Context* c : contexts())
    if (c->find_module(handle)) return c;
  return nullptr;
}

void Runtime::context_made(Context* c) {
  std::lock_guard l(m_);
  contexts_[c] = c;
}

void Runtime::context_gone(Context* c) {
  std::lock_guard l(m_);
  contexts_.erase(c);
}

MemPool& Runtime::create_pool(MemPool::Home home, u64 max_bytes, MemPool::Sharing sharing) {
  auto p = std::make_unique<MemPool>(devices_[home.device]->heap(), home, max_bytes, sharing);
  std::lock_guard l(m_);
  return *pools_.emplace(p.get(), std::move(p)).first->second;
}

Error Runtime::destroy_pool(const void* handle) {
  std::lock_guard l(m_);
  const auto it = pools_.find(handle);
  if (it == pools_.end()) return Error::InvalidValue;
  MemPool& p = *it->second;
  Device& d = *devices_[p.device()];
  if (&d.pool() == &p) d.set_pool(d.default_pool());
  for (Standard& s : standards_)
    if (s.now == &p) s.now = s.original.get();
  p.set(MemPool::ReleaseThreshold, 0);
  p.trim(0);
  destroyed_pools_.push_back(std::move(it->second));
  pools_.erase(it);
  return Error::Success;
}

MemPool* Runtime::find_pool(const void* handle) {
  for (const auto& d : devices_)
    if (&d->default_pool() == handle) return &d->default_pool();
  std::lock_guard l(m_);
  for (const Standard& s : standards_)
    if (s.original.get() == handle) return s.original.get();
  const auto it = pools_.find(handle);
  return it == pools_.end() ? nullptr : it->second.get();
}

Runtime::Standard& Runtime::standard(MemPool::Home home) {
  for (Standard& s : standards_)
    if (s.original->home() == home) return s;
  auto p = std::make_unique<MemPool>(devices_[home.device]->heap(), home, 0);
  MemPool* const now = p.get();
  return standards_.emplace_back(std::move(p), now);
}

MemPool& Runtime::default_pool(MemPool::Home home) {
  if (home.kind == MemPool::Home::Kind::Device) return devices_[home.device]->default_pool();
  std::lock_guard l(m_);
  return *standard(home).original;
}

MemPool& Runtime::pool(MemPool::Home home) {
  if (home.kind == MemPool::Home::Kind::Device) return devices_[home.device]->pool();
  std::lock_guard l(m_);
  return *standard(home).now;
}

Error Runtime::set_pool(MemPool::Home home, MemPool& p) {
  if (p.home() != home || p.sharing() == MemPool::Sharing::Imported) return Error::InvalidValue;
  if (home.kind == MemPool::Home::Kind::Device) {
    devices_[home.device]->set_pool(p);
    return Error::Success;
  }
  std::lock_guard l(m_);
  standard(home).now = &p;
  return Error::Success;
}

void Runtime::pools_synchronized(Device& d) {
  d.default_pool().synchronized();
  std::lock_guard l(m_);
  for (const auto& [handle, p] : pools_)
    if (p->device() == d.ordinal()) p->synchronized();
  for (const Standard& s : standards_)
    if (s.original->device() == d.ordinal()) s.original->synchronized();
}

Library& Runtime::add_library(std::unique_ptr<Library> library) {
  std::lock_guard l(m_);
  return *libraries_.emplace(library.get(), std::move(library)).first->second;
}

Error Runtime::remove_library(const void* handle) {
  std::unique_ptr<Library> gone;
  {
    std::lock_guard l(m_);
    const auto it = libraries_.find(handle);
    if (it == libraries_.end()) return Error::InvalidHandle;
    gone = std::move(it->second);
    libraries_.erase(it);
    std::erase_if(kernels_, [&](auto& e) { return e.second->library == gone.get(); });
  }
  for (Context* c : contexts()) c->forget(*gone);
  return Error::Success;
}

Library* Runtime::find_library(const void* handle) {
  std::lock_guard l(m_);
  const auto it = libraries_.find(handle);
  return it == libraries_.end() ? nullptr : it->second.get();
}

Kernel* Runtime::find_kernel(const void* handle) {
  std::lock_guard l(m_);
  const auto it = kernels_.find(handle);
  return it == kernels_.end() ? nullptr : it->second;
}

void Runtime::kernel_made(Kernel* k) {
  std::lock_guard l(m_);
  kernels_[k] = k;
}

}  // namespace us::driver
