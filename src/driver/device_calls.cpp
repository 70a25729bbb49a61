// SPDX-License-Identifier: Apache-2.0
// What kernels may call of the runtime API, one case each; errors are kept per thread.
// Reading and writing where a kernel says may fault, and is the end of the call then: no lock is held around it.
#include <cstring>

#include "device/support/guest_heap.h"
#include "driver/code/module.h"
#include "driver/code/occupancy.h"
#include "driver/device.h"
#include "driver/device_grid.h"
#include "driver/device_texts.h"
#include "driver/graph/exec.h"
#include "driver/runtime.h"

namespace us::driver {

using device::DeviceApi;

namespace {

template <class T>
void put(u64 at, T value) {
  std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
}
template <class T>
Error answer(u64 at, T value) {
  if (!at) return Error::InvalidValue;
  put(at, value);
  return Error::Success;
}

constexpr u32 kPreferNone = 0, kFourByteBanks = 1;

// Where no memory can be, an H200 faults; other addresses that are no memory it refuses.
void fault_outside_address_space(u64 at) {
  constexpr u32 kAddressBits = 49;
  if (at >> kAddressBits) static_cast<void>(*reinterpret_cast<const volatile u8*>(at));
}

}  // namespace

u64 DeviceGrid::call(DeviceApi api, const Caller& c, Words w) {
  const auto& query = context_.runtime().settings().device_query;
  switch (api) {
    case DeviceApi::GetParameterBuffer:
      return keep(std::make_unique<Prepared>(), w[1]);
    case DeviceApi::GetParameterBufferV2:
      return parameter_buffer(c, w);
    case DeviceApi::GetErrorString:
    case DeviceApi::GetErrorName:
      if (!query) return 0;
      return context_.runtime().device_texts().of(
          reinterpret_cast<const char*>(query(api, context_.device().ordinal(), nullptr, w)));
    case DeviceApi::GetLastError:
      return static_cast<u64>(last_error(c, true));
    case DeviceApi::PeekAtLastError:
      return static_cast<u64>(last_error(c, false));
    default:
      return static_cast<u64>(remember(c, dispatch(api, c, w)));
  }
}

Error DeviceGrid::dispatch(DeviceApi api, const Caller& c, Words w) {
  switch (api) {
    case DeviceApi::LaunchDevice:
      US_TRY(shape(w[1], w[0], w.subspan(2)));
      return launch(c, w[1], w[9]);
    case DeviceApi::LaunchDeviceV2:
      return launch(c, w[0], w[1]);
    case DeviceApi::GraphLaunch:
      return launch_graph(w[0], w[1]);
    case DeviceApi::GraphKernelNodeSetParam:
      return on_node(w[0], [&](UpdatableNode& n) { return n.set_param(w[1], reinterpret_cast<void*>(w[2]), w[3]); });
    case DeviceApi::GraphKernelNodeSetEnabled:
      return on_node(w[0], [&](UpdatableNode& n) { return n.set_enabled(static_cast<u8>(w[1]) != 0); });
    case DeviceApi::GraphKernelNodeSetGridDim:
      return on_node(w[0], [&](UpdatableNode& n) { return n.set_grid({u32(w[1]), u32(w[2]), u32(w[3])}); });
    case DeviceApi::GraphKernelNodeUpdatesApply:
      return update_nodes(w[0], w[1]);
    case DeviceApi::StreamCreateWithFlags:
      return create_stream(w[0], w[1]);
    case DeviceApi::StreamDestroy:
      return destroy(streams_, w[0]);
    case DeviceApi::StreamWaitEvent:
      return wait(c, w[0], w[1]);
    case DeviceApi::EventCreateWithFlags:
      return create_event(w[0], w[1]);
    case DeviceApi::EventRecord:
    case DeviceApi::EventRecordWithFlags:
      return record(c, w[0], w[1]);
    case DeviceApi::EventDestroy:
      return destroy(events_, w[0]);
    case DeviceApi::Malloc:
      return allocate(c, w[0], w[1]);
    case DeviceApi::Free:
      return c.heap->free(w[0]) ? Error::Success : Error::InvalidValue;
    case DeviceApi::MemcpyAsync:
      return in_stream(c, w[4], CopyOp{.given = {.dst = w[0], .src = w[1], .width = w[2]}});
    case DeviceApi::Memcpy2DAsync:
      if (w[4] > w[1] || w[4] > w[3]) return Error::InvalidPitchValue;
      return in_stream(
          c, w[7],
          CopyOp{.given = {
                     .dst = w[0], .src = w[2], .width = w[4], .height = w[5], .dst_pitch = w[1], .src_pitch = w[3]}});
    case DeviceApi::MemsetAsync:
      return in_stream(c, w[3], FillOp{.given = {.dst = w[0], .width = w[2], .value = static_cast<u8>(w[1])}});
    case DeviceApi::Memset2DAsync:
      return in_stream(
          c, w[5],
          FillOp{.given = {.dst = w[0], .pitch = w[1], .width = w[3], .height = w[4], .value = static_cast<u8>(w[2])}});
    case DeviceApi::Memset3DAsync:
      return in_stream(c, w[8],
                       FillOp{.given = {.dst = w[0],
                                        .pitch = w[1],
                                        .slice = w[1] * w[3],
                                        .width = w[5],
                                        .height = w[6],
                                        .depth = w[7],
                                        .value = static_cast<u8>(w[4])}});
    case DeviceApi::GetDevice:
      return answer(w[0], static_cast<int>(context_.device().ordinal()));
    case DeviceApi::GetDeviceCount:
      return answer(w[0], static_cast<int>(context_.runtime().device_count()));
    case DeviceApi::DeviceGetLimit: {
      u64 value = 0;
      US_TRY(context_.get_limit(static_cast<int>(w[1]), value));
      return answer(w[0], value);
    }
    case DeviceApi::DeviceGetCacheConfig:
      return answer(w[0], kPreferNone);
    case DeviceApi::DeviceGetSharedMemConfig:
      return answer(w[0], kFourByteBanks);
    case DeviceApi::OccupancyMaxActiveBlocksPerMultiprocessor:
    case DeviceApi::OccupancyMaxActiveBlocksPerMultiprocessorWithFlags:
      return occupancy(w);
    default: {
      const auto& query = context_.runtime().settings().device_query;
      Function* f = api == DeviceApi::FuncGetAttributes ? function_at(w[1]) : nullptr;
      return query ? static_cast<Error>(query(api, context_.device().ordinal(), f, w)) : Error::NotSupported;
    }
  }
}

template <class F>
Error DeviceGrid::on_node(u64 handle, F&& f) {
  const auto n = context_.runtime().graphs().find_updatable(reinterpret_cast<const void*>(handle));
  return n ? f(*n) : Error::InvalidValue;
}

Error DeviceGrid::launch_graph(u64 exec, u64 stream) {
  constexpr u64 kTail = u64{1} << 56, kFireAndForget = u64{2} << 56, kSibling = u64{3} << 56;
  const auto where = stream == kTail            ? GraphRun::Where::Tail
                     : stream == kFireAndForget ? GraphRun::Where::FireAndForget
                                                : GraphRun::Where::Sibling;
  if (!run_) return Error::Success;  // a kernel outside graphs: an H200 says so too, and launches nothing
  if (where == GraphRun::Where::Sibling && stream != kSibling) return Error::InvalidValue;
  Graphs& graphs = context_.runtime().graphs();
  std::shared_ptr<GraphExec> e;
  {
    std::lock_guard l(graphs.mutex());
    e = graphs.find_exec(reinterpret_cast<const void*>(exec));
  }
  return e ? run_->launch(std::move(e), where) : Error::InvalidValue;
}

// cudaGraphKernelNodeUpdate, as it lies in memory.
struct NodeUpdate {
  enum Field : u32 { Grid = 1, Param = 2, Enabled = 3 };
  u64 node;
  u32 field, pad;
  union {
    u32 grid[3];
    struct {
      const void* value;
      u64 offset, bytes;
    } param;
    u32 enabled;
  };
};

Error DeviceGrid::update_nodes(u64 list, u64 count) {
  if (!list) return Error::InvalidValue;
  for (; count; --count, list += sizeof(NodeUpdate)) {
    NodeUpdate u;
    std::memcpy(&u, reinterpret_cast<const void*>(list), sizeof u);
    US_TRY(on_node(u.node, [&](UpdatableNode& n) {
      switch (u.field) {
        case NodeUpdate::Grid:
          return n.set_grid({u.grid[0], u.grid[1], u.grid[2]});
        case NodeUpdate::Param:
          return n.set_param(u.param.offset, u.param.value, u.param.bytes);
        case NodeUpdate::Enabled:
          return n.set_enabled(u.enabled != 0);
        default:
          return Error::InvalidValue;
      }
    }));
  }
  return Error::Success;
}

Error DeviceGrid::allocate(const Caller& c, u64 out, u64 bytes) {
  if (!out) return Error::InvalidValue;
  const u64 at = c.heap->allocate(bytes);
  put(out, at);
  return at || bytes == 0 ? Error::Success : Error::OutOfMemory;
}

namespace {
void touch(const CopyOp& c) {
  fault_outside_address_space(c.given.dst);
  fault_outside_address_space(c.given.src);
}
void touch(const FillOp& f) { fault_outside_address_space(f.given.dst); }
}  // namespace

// Never at once: the thread is the device's.
template <class Op>
Error DeviceGrid::in_stream(const Caller& c, u64 stream, const Op& op) {
  if (op.empty()) return Error::Success;
  touch(op);
  US_TRY(op.check_on_device(context_, *c.heap));
  Target target;
  US_TRY(target_of(c, stream, target));
  const NodeRef n = op.node(context_.executor());
  n->small = false;
  submit(target, n, {});
  return Error::Success;
}

Error DeviceGrid::occupancy(Words w) {
  Function* f = function_at(w[1]);
  if (!f) return Error::InvalidDeviceFunction;
  const u32 threads = static_cast<u32>(w[2]);
  if (threads == 0) return Error::InvalidValue;
  put(w[0], static_cast<int>(blocks_per_sm(context_.device().spec(), needs_of(*f, threads, w[3]))));
  return Error::Success;
}

Function* DeviceGrid::function_at(u64 address) {
  Function* f = nullptr;
  return failed(module_.function_at(address, f)) ? nullptr : f;
}

Error DeviceGrid::remember(const Caller& c, Error e) {
  if (!failed(e)) return e;
  std::lock_guard l(m_);
  errors_[c.block << 10 | c.thread] = e;
  return e;
}

Error DeviceGrid::last_error(const Caller& c, bool forget) {
  std::lock_guard l(m_);
  const auto at = errors_.find(c.block << 10 | c.thread);
  if (at == errors_.end()) return Error::Success;
  const Error e = at->second;
  if (forget) errors_.erase(at);
  return e;
}

}  // namespace us::driver
