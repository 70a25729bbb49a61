// SPDX-License-Identifier: Apache-2.0
// Owns everything. cuda/ has the one instance; a unit test makes as many as it likes.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "driver/code/assembler.h"
#include "driver/device.h"
#include "driver/device_texts.h"
#include "driver/graph/graph.h"
#include "driver/memory/advice.h"
#include "driver/memory/array.h"
#include "driver/memory/ipc.h"
#include "driver/memory/mem_pool.h"
#include "driver/memory/rights.h"
#include "driver/memory/virtual_memory.h"
#include "driver/memory/workspaces.h"
#include "driver/notes.h"
#include "driver/settings.h"
#include "memory/texture.h"

namespace us::driver {

class Runtime {
 public:
  explicit Runtime(Settings);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  const Settings& settings() const { return settings_; }
  u32 device_count() const { return static_cast<u32>(devices_.size()); }
  Device& device(u32 ordinal) { return *devices_[ordinal]; }
  bool in_device_range(u64 address) const;
  // Kernels must ask before they touch global memory: not all of it is the device's, or some lies elsewhere.
  bool asks() const { return devices_.size() > 1 || registry_.any_registered() || !space_.apart(); }
  codegen::Jit& jit();  // made on first compile
  memory::AddressSpace& space() { return space_; }
  DeviceTexts& device_texts() { return device_texts_; }
  Workspaces& workspaces() { return workspaces_; }
  Assembler& assembler() { return assembler_; }
  memory::Registry& registry() { return registry_; }
  ArrayTable& arrays() { return arrays_; }
  memory::TextureTable& textures() { return textures_; }
  Ipc& ipc() { return ipc_; }
  Advice& advice() { return advice_; }
  Graphs& graphs() { return graphs_; }
  Captures& captures() { return graphs_.captures; }
  VirtualMemory& virtual_memory() { return virtual_memory_; }
  Rights& rights() { return rights_; }
  Notes notes() const { return {settings_.recorder, registry_}; }
  void report(std::string_view text);  // to the person, if there is one
  void refused(std::string_view what) const {
    if (settings_.refused) settings_.refused(what);
  }
  void launched(const device::Launch& l) const {
    if (settings_.launched) settings_.launched(l);
  }
  u64 next_grid_id() { return grids_.fetch_add(1, std::memory_order_relaxed); }
  u64 grids_started() const { return grids_ - 1; }
  u64 next_context_id() { return contexts_made_.fetch_add(1, std::memory_order_relaxed); }

  // Contexts made by the program (cuCtxCreate) and primary ones; handles are looked up here.
  Context& create_context(u32 ordinal);
  Error destroy_context(const void* handle);  // InvalidContext for primary ones
  Context* find_context(const void* handle);
  // Green contexts; their handles also name contexts.
  Error create_green(u32 ordinal, std::shared_ptr<const SmSet>, GreenContext*& out);
  Error destroy_green(const void* handle);
  GreenContext* find_green(const void* handle);
  std::shared_ptr<Stream> find_stream(const void* handle);  // in any context
  std::shared_ptr<Event> find_event(const void* handle);
  Context* context_of_function(const void* handle);  // nullptr: no context has it
  Context* context_of_module(const void* handle);
  void context_made(Context*);
  void context_gone(Context*);

  bool busy() const;                                       // work is queued or running in some context
  void after_all_work(const std::shared_ptr<void>& last);  // let go of when all work that is queued now is done

  // Libraries: fat binaries registered by the runtime API, cuLibraryLoad*.
  Library& add_library(std::unique_ptr<Library>);
  Error remove_library(const void* handle);
  Library* find_library(const void* handle);
  Kernel* find_kernel(const void* handle);
  void kernel_made(Kernel*);

  // Memory pools of the program; each device also has its default pool.
  MemPool& create_pool(MemPool::Home, u64 max_bytes, MemPool::Sharing);
  Error destroy_pool(const void* handle);  // its memory goes back when the last block is freed
  MemPool* find_pool(const void* handle);
  // What is taken from without naming a pool, of each home; made on first use.
  MemPool& default_pool(MemPool::Home);
  MemPool& pool(MemPool::Home);
  Error set_pool(MemPool::Home, MemPool&);  // InvalidValue: it is at home elsewhere, or another process's
  void pools_synchronized(Device&);         // what is above their thresholds goes back

 private:
  std::vector<Context*> contexts() const;
  Settings settings_;
  memory::AddressSpace space_;
  Workspaces workspaces_{space_};
  DeviceTexts device_texts_{space_};
  Assembler assembler_;
  memory::Registry registry_;
  ArrayTable arrays_;
  memory::TextureTable textures_;
  Ipc ipc_{*this};
  Advice advice_;
  VirtualMemory virtual_memory_{*this};
  Rights rights_{*this};
  std::atomic<u64> grids_{1}, contexts_made_{1};
  mutable std::mutex m_;
  std::mutex jit_m_;
  std::unique_ptr<codegen::Jit> jit_;
  std::unordered_map<const void*, Context*> contexts_;
  std::unordered_map<const void*, std::unique_ptr<Library>> libraries_;
  std::unordered_map<const void*, Kernel*> kernels_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unordered_map<const void*, std::unique_ptr<MemPool>> pools_;
  struct Standard {
    std::unique_ptr<MemPool> original;
    MemPool* now;
  };
  Standard& standard(MemPool::Home);  // m_ is held; not for devices, which have their own
  std::vector<Standard> standards_;
  std::vector<std::unique_ptr<MemPool>> destroyed_pools_;                   // blocks of them may still be in use
  std::unordered_map<const void*, std::unique_ptr<Context>> own_contexts_;  // not the primary ones
  std::unordered_map<const void*, std::shared_ptr<GreenContext>> greens_;
  Graphs graphs_{*this};
};

}  // namespace us::driver
