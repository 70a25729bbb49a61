// SPDX-License-Identifier: Apache-2.0
// A context: streams, events, modules and memory on one device, and the error that broke it.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "driver/code/launch.h"
#include "driver/code/library.h"
#include "driver/code/module.h"
#include "driver/memory/copy.h"
#include "driver/order/event.h"
#include "driver/order/executor.h"
#include "driver/order/stream.h"
#include "memory/registry.h"

namespace us::driver {

class Device;
class GraphRun;
class MemPool;
class Runtime;

void set_code(device::Launch&, std::shared_ptr<const codegen::Compiled>);

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
  std::atomic<u32> flags{0};  // cudaSetDeviceFlags, cuCtxCreate
  std::atomic<int> cache_config{0};

  // Streams (context_order.cpp). A handle from the program is looked up, never followed blindly.
  Stream& legacy_stream() { return legacy_; }
  Stream& per_thread_stream();
  Stream& create_stream(bool non_blocking, int priority);
  std::shared_ptr<Stream> find_stream(const void* handle);
  Error destroy_stream(const void* handle);
  Error synchronize(Stream&);
  Error query(Stream&);
  bool busy() const { return executor_->busy(); }
  Error synchronize();                                    // the whole context, as the program asks for it
  Error settle();                                         // the same, before memory or code goes: whatever captures
  void after_all_work(std::shared_ptr<void> last);        // let go of when what is queued now is done
  enum class Place : u8 { Behind, Record, Overlapping };  // Overlapping: a kernel that may run beside the one before it
  NodeRef append(Stream&, const NodeRef&, const NodeRef& also_after = {}, Place = Place::Behind);  // behind the tail
  // A kernel that there is room for, and what is complete when all its blocks have begun and all before it in the stream is over.
  void append_kernel(Stream&, const NodeRef&, Place, std::span<const NodeRef> begun);

  // Two nodes with something between them: `first` goes behind the tail, `last` is the new tail and the caller's to submit.
  void append_span(Stream&, const NodeRef& first, const NodeRef& last, const NodeRef& also_after);

  // Events.
  Event& create_event(bool timing, bool blocking_sync, std::shared_ptr<SharedEvent> = nullptr);
  std::shared_ptr<Event> find_event(const void* handle);
  Error destroy_event(const void* handle);
  Error record(Event&, Stream&, bool external = false);
  Error wait(Stream&, Event&, bool external = false);
  // All streams of the context, or those of a green context.
  Error record_all(Event&, const GreenContext*);  // complete when all work that is in them now is
  Error wait_all(Event&, const GreenContext*);    // what is put into them from now on comes behind it

  // Work (context_work.cpp).
  Error launch(Function&, const LaunchConfig&, const LaunchArgs&, Stream&);
  // All but the code of a launch that was found valid; depth: how many grids are above it.
  std::unique_ptr<device::Launch> make_launch(Function&, const LaunchConfig&, const device::Dim3& cluster,
                                              ParamBlock params, u32 depth, std::shared_ptr<GraphRun> run = nullptr);
  bool on_device(u64 address, u64 extent) const;  // kernels may read and write all of it
  Executor& executor() { return *executor_; }
  Error host_function(Stream&, const HostParams&);
  Error callback(Stream&, std::function<void()>);  // runs even if the context is broken
  Error memory_operations(Stream&, MemOpParams);
  Error copy(const Copy&, CopyKind, Stream&, bool async);
  Error fill(const Fill&, Stream&, bool async);
  // What a copy or set of a graph means, its ends found and checked.
  Error describe(const Copy&, CopyKind, CopyParams&);
  Error describe(const Fill&, FillParams&);
  Error describe(Function&, const LaunchConfig&, const LaunchArgs&, KernelParams&);
  Error not_captured(Stream&);  // for what captures cannot hold: refuses, and the capture becomes invalid

  // Memory (context_memory.cpp). Freeing takes any address of the process, from whatever context.
  Error allocate(u64 bytes, memory::Kind, u32 flags, u64& out);  // Device, Managed, Host
  Error allocate_async(u64 bytes, MemPool&, Stream&, u64& out);
  Error free(u64 address);
  Error free_async(u64 address, Stream&);
  Error free_host(u64 address);
  Error register_host(u64 address, u64 bytes, u32 flags);
  Error unregister_host(u64 address);

  // Code (context_code.cpp). The module of a library in this context is made on first use.
  Error module_of(Library&, Module*& out);
  Error function_of(Kernel&, Function*& out);
  Error load_module(std::shared_ptr<Library>, Module*& out);  // cuModuleLoad*
  Error unload_module(const void* handle);
  Module* find_module(const void* handle);
  Function* find_function(const void* handle);
  void forget(Library&);  // the library is being unloaded
  void function_made(Function*);

  // Limits (cudaDeviceSetLimit), by CUDA's number.
  Error get_limit(int which, u64& out);
  Error set_limit(int which, u64 value);

 private:
  struct Side;
  void predecessors(Stream&, const NodeRef& also_after, std::vector<NodeRef>&) const;  // order_ is held
  NodeRef record_node(Event&);
  Error record_begun(const LaunchConfig&, Stream&, std::vector<NodeRef>& nodes);
  std::vector<NodeRef> tails();  // of all streams, those still pending
  enum Access : u32 { Reads = 1, Writes = 2, Both = 3 };
  Side side_of(u64 address, u64 extent, Access, i32 device = -1) const;  // device: whose rights count; -1: this one's
  bool accessible(u64 address, u64 extent, Access, i32 device) const;
  bool may_set(u64 address) const;
  Error check_copy(CopyKind, const Side& dst, const Side& src) const;
  void wait_until(Stream&, std::function<bool()>);  // work behind it starts when that is true
  Error admit(Stream&, CapturePoint*&);
  Error capture_launch(Function&, const LaunchConfig&, const LaunchArgs&, Stream&, CapturePoint&);
  // On this thread, when the stream gets there.
  Error run_in_order(Stream&, const std::function<void()>&, std::unique_ptr<probe::Span>);
  Error run_later(Stream&, u64 bytes, std::function<void()>, std::unique_ptr<probe::Span>);
  void wait_for_others(Stream&, std::shared_ptr<SharedEvent>);
  Error limit_for(int which, u64& value);
  void release_memory(const memory::Allocation&);
  Error capture_allocation(CapturePoint&, u64 bytes, u32 device, u64& out);
  void report(const device::Fault&);

  Device& device_;
  const bool primary_;
  const u64 id_;
  std::unique_ptr<Executor> executor_;
  std::mutex m_;      // handle tables, limits
  std::mutex order_;  // stream tails
  Stream legacy_;
  Stream gather_;  // the program does not know it: where record_all brings streams together
  std::unordered_map<const void*, std::shared_ptr<Stream>> streams_;
  std::unordered_map<std::thread::id, std::shared_ptr<Stream>> thread_streams_;
  std::unordered_map<const void*, std::shared_ptr<Event>> events_;
  std::vector<Stream*> all_streams_;  // guarded by order_
  std::vector<NodeRef> orphans_;      // tails of destroyed streams, guarded by order_
  std::recursive_mutex code_m_;
  std::unordered_map<Library*, std::unique_ptr<Module>> library_modules_;
  std::unordered_map<const void*, std::pair<std::shared_ptr<Library>, std::unique_ptr<Module>>> modules_;
  std::unordered_map<const Kernel*, Function*> kernel_functions_;
  std::unordered_map<const void*, Function*> functions_;  // handles that the program may hold
  std::map<int, u64> limits_;
  std::atomic<u32> stack_bytes_{0};  // per thread, as the program set it
  u64 next_stream_id_ = 3;
};

}  // namespace us::driver
