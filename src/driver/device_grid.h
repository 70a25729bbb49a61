// SPDX-License-Identifier: Apache-2.0
// A grid whose kernel may launch others (dynamic parallelism): its streams, its events and the work that hangs on it.
//
//   the grid itself ──┐
//   launches, copies ─┴─ open == 0 → first tail launch ── open == 0 → next … → complete: its node in the work graph
//
// Launches are nodes of the same work graph as the host's. A block's default stream and streams by name keep their
// order; a launch in the fire-and-forget stream waits for nobody; tail launches run one after the other when all the
// rest has ended. A launched grid has a DeviceGrid of its own, so that it is complete only when what it launched is.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "device/device_runtime.h"
#include "driver/context.h"
#include "driver/graph/run.h"
#include "driver/operation/operation.h"
#include "memory/heap.h"

namespace us::driver {

class DeviceGrid final : public device::DeviceRuntime, public std::enable_shared_from_this<DeviceGrid> {
 public:
  DeviceGrid(Context&, Module&, u32 depth, std::shared_ptr<GraphRun> run);
  u64 call(device::DeviceApi, const device::DeviceCaller&, std::span<const u64> words) override;
  void grid_ended(const device::Fault&, std::function<void(const device::Fault&)> done) override;

 private:
  using Caller = device::DeviceCaller;
  using Words = std::span<const u64>;
  // A launch between GetParameterBuffer and LaunchDevice.
  struct Prepared {
    Function* function = nullptr;
    LaunchConfig config;
    memory::Heap* heap = nullptr;
    u64 buffer = 0, bytes = 0;  // where the kernel writes the parameters
    probe::Observer* observer = nullptr;
    void tell(bool there) const;
    ParamBlock params() const;
    ~Prepared();
  };
  enum class Order { InStream, FireAndForget, Tail };
  // Where work goes: behind the tail of a stream, or nowhere in particular.
  struct Target {
    Order order = Order::InStream;
    u64 stream = 0;  // key in streams_
  };

  Error dispatch(device::DeviceApi, const Caller&, Words);
  u64 keep(std::unique_ptr<Prepared>, u64 bytes);  // the address of its parameters
  static LaunchConfig config_of(Words);            // grid, block, dynamic shared memory
  u64 parameter_buffer(const Caller&, Words);
  Error shape(u64 buffer, u64 function, Words);
  Error launch(const Caller&, u64 buffer, u64 stream);
  Error launch_in(const Target&, Prepared&);
  Error target_of(const Caller&, u64 stream, Target& out);
  NodeRef compile_node(Function&, const codegen::Variant&, device::Launch&);
  void submit(const Target&, const NodeRef&, const NodeRef& also_after);
  void start(const NodeRef&, std::span<const NodeRef> after);  // release() when it is complete
  void release();
  template <class Op>
  Error in_stream(const Caller&, u64 stream, const Op&);  // a copy or set, checked on the way
  Error create(std::unordered_map<u64, NodeRef>&, u64 out);
  Error create_stream(u64 out, u64 flags);
  Error create_event(u64 out, u64 flags);
  Error destroy(std::unordered_map<u64, NodeRef>&, u64 handle);
  Error record(const Caller&, u64 event, u64 stream);
  Error wait(const Caller&, u64 stream, u64 event);
  Error allocate(const Caller&, u64 out, u64 bytes);
  Error occupancy(Words);
  Function* function_at(u64 address);
  Error launch_graph(u64 exec, u64 stream);
  Error update_nodes(u64 list, u64 count);
  template <class F>
  Error on_node(u64 handle, F&&);
  Error remember(const Caller&, Error);
  Error last_error(const Caller&, bool forget);

  Context& context_;
  Module& module_;
  const u32 depth_;
  const std::shared_ptr<GraphRun> run_;  // the launch of a graph that this belongs to
  std::mutex m_;                         // guards the members below
  u32 open_ = 1;                         // the grid, or its tail launch that runs; work not complete
  std::unordered_map<u64, std::unique_ptr<Prepared>> prepared_;  // by address of the parameters
  std::unordered_map<u64, NodeRef> streams_, events_;  // the last node; default streams have keys of their own
  std::deque<std::pair<NodeRef, NodeRef>> tails_;      // what to run, and what must be complete before
  std::unordered_map<u64, Error> errors_;              // the last one, by thread
  u64 next_handle_ = 0x100;
  device::Fault fault_;
  std::function<void(const device::Fault&)> done_;
};

}  // namespace us::driver
