// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime.h"

#include <algorithm>

#include "device/heap_listener.h"
#include "driver/code/assembler.h"
#include "driver/code/library.h"
#include "driver/code/modules.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/device_texts.h"
#include "driver/graph/exec.h"
#include "driver/graph/graph.h"
#include "driver/green.h"
#include "driver/memory/advice.h"
#include "driver/memory/array.h"
#include "driver/memory/ipc.h"
#include "driver/memory/pools.h"
#include "driver/memory/rights.h"
#include "driver/memory/virtual_memory.h"
#include "driver/memory/workspaces.h"
#include "driver/operation/spans.h"
#include "driver/order/telling.h"
#include "probe/observer.h"

namespace us::driver {
namespace {

device::HeapListener heap_listener(probe::Observer& o) {
  using Memory = probe::Memory;
  return [&o](u64 address, u64 bytes, bool there) {
    o.memory({.kind = there ? Memory::Kind::Mapped : Memory::Kind::Unmapped,
              .owner = Memory::Owner::Heap,
              .begin = address,
              .bytes = bytes});
  };
}

}  // namespace

Runtime::Runtime(Settings s)
    : settings_(std::move(s)),
      workspaces_(std::make_unique<Workspaces>(space_, settings_.observer)),
      device_texts_(std::make_unique<DeviceTexts>(space_)),
      assembler_(std::make_unique<Assembler>(settings_.ptxas, settings_.jit.cache_dir)),
      arrays_(std::make_unique<ArrayTable>()),
      ipc_(std::make_unique<Ipc>(*this)),
      advice_(std::make_unique<Advice>()),
      virtual_memory_(std::make_unique<VirtualMemory>(*this)),
      rights_(std::make_unique<Rights>(*this)),
      telling_(settings_.observer ? std::make_unique<Telling>(*settings_.observer) : nullptr),
      pools_(std::make_unique<Pools>(*this)),
      graphs_(std::make_unique<Graphs>(*this)) {
  registry_.listen(settings_.observer);
  if (probe::Observer* const o = settings_.observer) device::listen_to_heaps(heap_listener(*o));
  for (u32 i = 0; i < settings_.devices.size(); ++i)
    devices_.push_back(std::make_unique<Device>(*this, i, settings_.devices[i]));
}

Runtime::~Runtime() {
  own_contexts_.clear();
  for (auto& d : devices_) d->reset_primary();
  pools_.reset();
  devices_.clear();
}

Captures& Runtime::captures() { return graphs_->captures; }
Spans Runtime::spans() const { return {settings_.recorder, registry_}; }

bool Runtime::in_device_range(u64 address) const {
  if (virtual_memory_->reserved(address)) return true;
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
  for (Context* c : contexts())
    if (c->executor().busy()) return true;
  return false;
}

void Runtime::after_all_work(const std::shared_ptr<void>& last) {
  for (Context* c : contexts()) c->order().after_all(last);
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
    if (c->modules().find_function(handle)) return c;
  return nullptr;
}

Context* Runtime::context_of_module(const void* handle) {
  for (Context* c : contexts())
    if (c->modules().find(handle)) return c;
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
  }
  for (const Kernel* k : gone->made_kernels()) {
    std::lock_guard l(m_);
    kernels_.erase(k);
  }
  for (Context* c : contexts()) c->modules().forget(*gone);
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
