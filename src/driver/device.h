// SPDX-License-Identifier: Apache-2.0
// One virtual GPU: its limits, its memory, its execution engine, its primary context.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "device/gpu.h"
#include "driver/device_spec.h"
#include "driver/error.h"
#include "memory/heap.h"

namespace us::driver {

class Context;
class MemPool;
class Runtime;

class Device {
 public:
  Device(Runtime&, u32 ordinal, const DeviceSpec&);
  ~Device();
  Runtime& runtime() const { return runtime_; }
  u32 ordinal() const { return ordinal_; }
  const DeviceSpec& spec() const { return spec_; }
  memory::Heap& heap() { return *heap_; }
  device::Gpu& gpu();              // worker threads start on first use
  Context& primary();              // made on first use
  Context& primary_for_runtime();  // which holds it, too, until somebody releases it once too often
  bool primary_active() const;
  Context& retain_primary();
  Error release_primary();
  void reset_primary();  // cudaDeviceReset: everything in it is gone
  MemPool& default_pool() { return *default_pool_; }
  MemPool& pool();  // what cudaMallocAsync takes from
  void set_pool(MemPool&);
  void set_primary_flags(u32 flags);
  u32 primary_flags() const;
  void mem_info(u64& free, u64& total);
  u64 busy_ns() const;  // how long kernels have been running

 private:
  Runtime& runtime_;
  const u32 ordinal_;
  const DeviceSpec spec_;
  std::unique_ptr<memory::Heap> heap_;
  std::unique_ptr<MemPool> default_pool_;
  std::atomic<MemPool*> pool_;
  mutable std::recursive_mutex m_;  // guards the members below
  std::unique_ptr<device::Gpu> gpu_;
  struct Primary;  // always at the same address: its handle is good again once it is retained again
  std::unique_ptr<Primary> primary_;
  u32 primary_refs_ = 0;
  bool used_by_runtime_ = false;
  u32 primary_flags_ = 0;
};

}  // namespace us::driver
