// SPDX-License-Identifier: Apache-2.0
#include "driver/device.h"

#include <optional>

#include "driver/context.h"
#include "driver/memory/mem_pool.h"
#include "driver/memory/rights.h"
#include "driver/runtime.h"

namespace us::driver {

struct Device::Primary {
  std::optional<Context> context;
};

Device::Device(Runtime& r, u32 ordinal, const DeviceSpec& s)
    : runtime_(r),
      ordinal_(ordinal),
      spec_(s),
      heap_(std::make_unique<memory::Heap>(s.total_memory, r.space(), r.settings().apart)),
      default_pool_(std::make_unique<MemPool>(*heap_, MemPool::Home{.device = ordinal}, 0)),
      pool_(default_pool_.get()),
      primary_(std::make_unique<Primary>()) {}

MemPool& Device::pool() { return *pool_; }
void Device::set_pool(MemPool& p) { pool_ = &p; }

Device::~Device() { primary_->context.reset(); }

device::Gpu& Device::gpu() {
  std::lock_guard l(m_);
  if (!gpu_) {
    const Settings& s = runtime_.settings();
    device::GpuOptions o;
    o.workers = s.workers;
    o.deterministic = s.one_order();
    o.seed = s.seed;
    o.sms = spec_.sms;
    o.async = s.async;
    o.textures = &runtime_.textures();
    o.printf_fifo_bytes = spec_.limit_printf_fifo;
    o.malloc_heap_bytes = spec_.limit_malloc_heap;
    o.print = s.print;
    o.space = &runtime_.space();
    o.alone = runtime_.device_count() == 1;
    o.reach = [this](u64 address, bool write) { return runtime_.rights().reach(ordinal_, address, write); };
    gpu_ = std::make_unique<device::Gpu>(std::move(o));
  }
  return *gpu_;
}

Context& Device::primary() {
  std::lock_guard l(m_);
  if (!primary_->context) {
    primary_->context.emplace(*this, true, runtime_.next_context_id());
    primary_->context->flags = primary_flags_;
  }
  return *primary_->context;
}

Context& Device::primary_for_runtime() {
  std::lock_guard l(m_);
  if (!std::exchange(used_by_runtime_, true)) ++primary_refs_;
  return primary();
}

bool Device::primary_active() const {
  std::lock_guard l(m_);
  return primary_->context.has_value();
}

Context& Device::retain_primary() {
  std::lock_guard l(m_);
  ++primary_refs_;
  return primary();
}

Error Device::release_primary() {
  std::lock_guard l(m_);
  if (primary_refs_ == 0) return Error::InvalidContext;
  if (--primary_refs_ > 0) return Error::Success;
  primary_->context.reset();
  used_by_runtime_ = false;
  return Error::Success;
}

void Device::reset_primary() {
  std::lock_guard l(m_);
  primary_refs_ = 0;
  used_by_runtime_ = false;
  primary_->context.reset();
}

void Device::set_primary_flags(u32 flags) {
  std::lock_guard l(m_);
  primary_flags_ = flags;
  if (primary_->context) primary_->context->flags = flags;
}

u32 Device::primary_flags() const {
  std::lock_guard l(m_);
  return primary_->context ? primary_->context->flags.load() : primary_flags_;
}

void Device::mem_info(u64& free, u64& total) {
  total = spec_.total_memory;
  free = total - heap_->used();
}

u64 Device::busy_ns() const {
  std::lock_guard l(m_);
  return gpu_ ? gpu_->busy_ns() : 0;
}

}  // namespace us::driver
