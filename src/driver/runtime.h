// SPDX-License-Identifier: Apache-2.0
// Owns everything. cuda/ has the one instance; a unit test makes as many as it likes. This header is what the parts see
// of their owner, so it names them and includes none; runtime.cpp puts them together.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "driver/error.h"
#include "driver/settings.h"
#include "memory/address_space.h"
#include "memory/registry.h"
#include "memory/texture.h"

namespace us::driver {

class Advice;
class ArrayTable;
class Assembler;
class Captures;
class Context;
class Device;
class DeviceTexts;
class Event;
class Graphs;
class GreenContext;
class Ipc;
struct Kernel;
class Library;
class Pools;
class Rights;
class Spans;
class Stream;
class Telling;
class VirtualMemory;
class Workspaces;

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
  DeviceTexts& device_texts() { return *device_texts_; }
  Workspaces& workspaces() { return *workspaces_; }
  Assembler& assembler() { return *assembler_; }
  memory::Registry& registry() { return registry_; }
  ArrayTable& arrays() { return *arrays_; }
  memory::TextureTable& textures() { return textures_; }
  Ipc& ipc() { return *ipc_; }
  Advice& advice() { return *advice_; }
  Graphs& graphs() { return *graphs_; }
  Captures& captures();
  VirtualMemory& virtual_memory() { return *virtual_memory_; }
  Pools& pools() { return *pools_; }
  Rights& rights() { return *rights_; }
  Spans spans() const;
  Telling* telling() const { return telling_.get(); }  // null: nobody observes the process
  void report(std::string_view text);                  // to the person, if there is one
  void ran_newer_ptx(std::string_view image, u32 arch) const {
    if (settings_.ran_newer_ptx) settings_.ran_newer_ptx(image, arch);
  }
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

 private:
  std::vector<Context*> contexts() const;
  Settings settings_;
  memory::AddressSpace space_;
  const std::unique_ptr<Workspaces> workspaces_;
  const std::unique_ptr<DeviceTexts> device_texts_;
  const std::unique_ptr<Assembler> assembler_;
  memory::Registry registry_;
  const std::unique_ptr<ArrayTable> arrays_;
  memory::TextureTable textures_;
  const std::unique_ptr<Ipc> ipc_;
  const std::unique_ptr<Advice> advice_;
  const std::unique_ptr<VirtualMemory> virtual_memory_;
  const std::unique_ptr<Rights> rights_;
  const std::unique_ptr<Telling> telling_;
  std::atomic<u64> grids_{1}, contexts_made_{1};
  mutable std::mutex m_;  // guards the tables below
  std::mutex jit_m_;      // guards jit_
  std::unique_ptr<codegen::Jit> jit_;
  std::unordered_map<const void*, Context*> contexts_;
  std::unordered_map<const void*, std::unique_ptr<Library>> libraries_;
  std::unordered_map<const void*, Kernel*> kernels_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<Pools> pools_;
  std::unordered_map<const void*, std::unique_ptr<Context>> own_contexts_;  // not the primary ones
  std::unordered_map<const void*, std::shared_ptr<GreenContext>> greens_;
  std::unique_ptr<Graphs> graphs_;  // the first to go
};

}  // namespace us::driver
