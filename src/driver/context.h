// SPDX-License-Identifier: Apache-2.0
// A context: streams, events, modules and memory on one device, and the error that broke it. This header is what the
// parts see of their context; context*.cpp put it together.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "driver/order/event.h"
#include "driver/order/stream_order.h"
#include "memory/registry.h"

namespace us::device {
class DeviceRuntime;
}

namespace us::driver {

class Device;
class GraphRun;
class MemPool;
class Module;
class Modules;
class Operation;
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
  std::atomic<u32> flags{0};  // cudaSetDeviceFlags, cuCtxCreate
  std::atomic<int> cache_config{0};

  // Streams (context_streams.cpp). A handle from the program is looked up, never followed blindly.
  Stream& legacy_stream() { return legacy_; }
  Stream& per_thread_stream();
  Stream& create_stream(bool non_blocking, int priority);
  std::shared_ptr<Stream> find_stream(const void* handle);
  Error destroy_stream(const void* handle);
  Error synchronize(Stream&);
  Error query(Stream&);
  Error synchronize();  // the whole context, as the program asks for it
  Error settle();       // the same, before memory or code goes: whatever captures
  Executor& executor() { return *executor_; }
  StreamOrder& order() { return order_; }

  // Events.
  Event& create_event(bool timing, bool blocking_sync, std::shared_ptr<SharedEvent> = nullptr);
  std::shared_ptr<Event> find_event(const void* handle);
  Error destroy_event(const void* handle);
  Error record(Event&, Stream&, bool external = false);
  Error wait(Stream&, Event&, bool external = false);
  // All streams of the context, or those of a green context.
  Error record_all(Event&, const GreenContext*);  // complete when all work that is in them now is
  Error wait_all(Event&, const GreenContext*);    // what is put into them from now on comes behind it

  // Work (context_submit.cpp): checked, then a node of the graph that the stream captures, or behind the stream's tail.
  Error submit(Operation, Stream&, bool async = true);  // async: of copies and sets, whether the program goes on
  Error not_captured(Stream&);  // for what captures cannot hold: refuses, and the capture becomes invalid
  // What a grid that runs here calls when its kernel launches others (device_grid.cpp).
  std::shared_ptr<device::DeviceRuntime> device_runtime(Module&, u32 depth, std::shared_ptr<GraphRun>);

  // Memory (context_memory.cpp). Freeing takes any address of the process, from whatever context.
  Error allocate(u64 bytes, memory::Kind, u32 flags, u64& out);  // Device, Managed, Host
  Error allocate_async(u64 bytes, MemPool&, Stream&, u64& out);
  Error free(u64 address);
  Error free_async(u64 address, Stream&);
  Error free_host(u64 address);
  Error register_host(u64 address, u64 bytes, u32 flags);
  Error unregister_host(u64 address);

  Modules& modules() { return *modules_; }

  // Limits (cudaDeviceSetLimit), by CUDA's number.
  Error get_limit(int which, u64& out);
  Error set_limit(int which, u64 value);
  u32 stack_bytes() const { return stack_bytes_; }  // per thread, as the program set it; 0: it did not

 private:
  void release_memory(const memory::Allocation&);

  Device& device_;
  const bool primary_;
  const u64 id_;
  std::unique_ptr<Executor> executor_;
  std::mutex m_;  // handle tables, limits
  Stream legacy_;
  Stream gather_;  // the program does not know it: where record_all brings streams together
  StreamOrder order_;
  std::unordered_map<const void*, std::shared_ptr<Stream>> streams_;
  std::unordered_map<std::thread::id, std::shared_ptr<Stream>> thread_streams_;
  std::unordered_map<const void*, std::shared_ptr<Event>> events_;
  std::unique_ptr<Modules> modules_;
  std::map<int, u64> limits_;
  std::atomic<u32> stack_bytes_{0};
  u64 next_stream_id_ = 3;
};

}  // namespace us::driver
