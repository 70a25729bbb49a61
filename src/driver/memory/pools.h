// SPDX-License-Identifier: Apache-2.0
// Memory pools of the program, and what is taken from without naming a pool, of each home. A device's own default pool
// is the device's.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "driver/memory/mem_pool.h"

namespace us::driver {

class Device;
class Runtime;

class Pools {
 public:
  explicit Pools(Runtime& r) : runtime_(r) {}
  MemPool& create(MemPool::Home, u64 max_bytes, MemPool::Sharing);
  Error destroy(const void* handle);  // its memory goes back when the last block is freed
  MemPool* find(const void* handle);
  // Made on first use.
  MemPool& original(MemPool::Home);
  MemPool& current(MemPool::Home);
  Error set_current(MemPool::Home, MemPool&);  // InvalidValue: it is at home elsewhere, or another process's
  void synchronized(Device&);                  // what is above their thresholds goes back

 private:
  struct Standard {
    std::unique_ptr<MemPool> original;
    MemPool* now;
  };
  Standard& standard(MemPool::Home);  // m_ is held; not for devices, which have their own
  Runtime& runtime_;
  std::mutex m_;  // guards the members below
  std::unordered_map<const void*, std::unique_ptr<MemPool>> pools_;
  std::vector<Standard> standards_;
  std::vector<std::unique_ptr<MemPool>> destroyed_;  // blocks of them may still be in use
};

}  // namespace us::driver
