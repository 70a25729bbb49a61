// SPDX-License-Identifier: Apache-2.0
// A context: streams, events, modules and memory on one device, and the error that broke it.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "driver/event.h"
#include "driver/launch.h"
#include "driver/library.h"
#include "driver/module.h"
#include "driver/stream.h"
#include "driver/transfer.h"
#include "memory/registry.h"

namespace us::driver {

class Device;
class Runtime;

class Context {
 public:
  Context(Device&, bool primary, u64 id);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Device& device() const { return device_; }
  Runtime& runtime() const;
  bool primary() const { return primary_; }
  u64 id() const { return id_; }
  Error sticky() const { return executor_->sticky(); }

  // Streams. A raw pointer is a handle that came from the program; it is looked up, never followed blindly.
  Stream& legacy_stream() { return legacy_; }
  Stream& per_thread_stream();
  std::shared_ptr<Stream> create_stream(bool non_blocking, int priority);
  std::shared_ptr<Stream> find_stream(const void* handle);
  Error destroy_stream(const void* handle);
  Error synchronize(Stream&);
  Error query(Stream&);
  Error synchronize();  // the whole context

  std::shared_ptr<Event> create_event(bool timing, bool blocking_sync);
  std::shared_ptr<Event> find_event(const void* handle);
  Error destroy_event(const void* handle);
  Error record(Event&, Stream&);
  Error wait(Stream&, const Event&);

  // Work.
  NodeRef append(Stream&, const NodeRef&);  // behind the tail, with the rules of the default stream
  Error launch(Function&, const LaunchConfig&, const LaunchArgs&, Stream&);
  Error host_function(Stream&, std::function<void()>, bool even_if_broken);
  Error copy(const Copy&, CopyKind, Stream&, bool async);
  Error fill(const Fill&, Stream&, bool async);

  // Memory (see also Runtime for lookups by address).
  Error allocate(u64 bytes, memory::Kind, u32 flags, u64& out);
  Error allocate_async(u64 bytes, Stream&, u64& out);
  Error free(u64 address);
  Error free_async(u64 address, Stream&);

  // Code. The module of a library in this context is made on first use.
  Error module_of(Library&, Module*& out);
  Error function_of(Kernel&, Function*& out);
  Error load_module(std::shared_ptr<Library>, Module*& out);  // cuModuleLoad*
  Error unload_module(Module*);
  bool owns(const Module*) const;
  void forget(Library&);                                      // the library is being unloaded

  // Limits (cudaDeviceSetLimit), by CUDA's limit number.
  Error get_limit(int which, u64& out) const;
  Error set_limit(int which, u64 value);

 private:
  Error copy_now(const Copy&, Stream&);
  void report(const device::Fault&);

  Device& device_;
  const bool primary_;
  const u64 id_;
  std::unique_ptr<Executor> executor_;
  mutable std::mutex m_;             // handle tables
  std::mutex order_;                 // stream tails
  Stream legacy_;
  std::unordered_map<const void*, std::shared_ptr<Stream>> streams_;
  std::unordered_map<const void*, std::shared_ptr<Event>> events_;
  std::vector<Stream*> blocking_;    // guarded by order_
  std::vector<NodeRef> orphans_;     // tails of destroyed streams, guarded by order_
  std::recursive_mutex code_m_;
  std::map<Library*, std::unique_ptr<Module>> library_modules_;
  std::map<Module*, std::pair<std::shared_ptr<Library>, std::unique_ptr<Module>>> modules_;
  std::map<int, u64> limits_;
  u64 next_id_ = 3;
};

}  // namespace us::driver
