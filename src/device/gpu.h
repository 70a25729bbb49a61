// SPDX-License-Identifier: Apache-2.0
// The modelled GPU as the driver sees it: submit a grid, get told when it ended and how. No CUDA objects here.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/settings.h"
#include "device/abi/kernel_code.h"
#include "device/device_runtime.h"
#include "memory/address_space.h"
#include "probe/fault.h"
#include "probe/listener.h"

namespace us::memory {
class TextureTable;
}

namespace us::device {

enum class Outcome : u8 {
  Ok,
  IllegalAddress,       // cudaErrorIllegalAddress
  InvalidAddressSpace,  // cudaErrorInvalidAddressSpace
  MisalignedAddress,    // cudaErrorMisalignedAddress
  IllegalInstruction,   // cudaErrorIllegalInstruction
  HardwareStackError,   // cudaErrorHardwareStackError
  Trap,                 // cudaErrorLaunchFailure
  Assert,               // cudaErrorAssert
  Deadlock,             // nothing can run: reported, cudaErrorLaunchTimeout
  NotSupported,         // reached something we do not implement, named in the message
};

// Everything a person needs to find the fault.
struct Fault {
  Outcome outcome = Outcome::Ok;
  std::string message;  // one or more lines, complete: kernel, block, thread, source line, what was expected
  probe::Fault what = {};
};

// What a launch asked for that changes no result: for profiles and traces.
struct LaunchRecord {
  struct Window {  // lines of [address, address + bytes) that are to stay in L2
    u64 address = 0, bytes = 0;
    float hit_ratio = 0;
    u32 hit = 0, miss = 0;  // 0 normal, 1 streaming, 2 persisting
  };
  u32 domain = 0;              // memory synchronisation domain, the physical one
  int priority = 0;            // lower is sooner
  u32 shared_kb = 0;           // the split of the unified cache that the carveout leads to
  u32 cluster_policy = 0;      // 0 default, 1 spread, 2 balance
  bool serialization = false;  // may begin before its predecessor in the stream has ended
  Window window;
};

struct Launch {
  LaunchRecord record;
  std::shared_ptr<const KernelCode> code;
  GridCtx ctx;                                  // shared sizes, dims, params pointer, symbols
  std::shared_ptr<void> keep_alive;             // parameter buffer and so on
  std::shared_ptr<DeviceRuntime> runtime;       // of kernels that launch others
  bool cooperative = false;                     // all CTAs must be resident at once
  u32 max_resident_ctas = 1;                    // occupancy limit of the modelled device for this kernel, whole device
  std::shared_ptr<const std::vector<u32>> sms;  // the multiprocessors it may run on; null: all
  u32 stack_bytes = 0;                          // per thread, if more than the code's own local_dynamic
  std::shared_ptr<probe::Listener> listener;    // null: nobody; else the code was compiled for its strategy
  std::function<void(const Fault&)>
      faulted;  // if set: it has ended with a fault; before the listener hears that it has ended
  // On a worker thread, before `done`; a grid that fails may skip them.
  std::function<void()> triggered;                       // if the code triggers: all CTAs have, or have ended
  std::function<void()> begun;                           // if set: all CTAs have begun
  std::shared_ptr<std::atomic<bool>> predecessors_done;  // griddepcontrol.wait waits for it; null: nothing to wait for
  std::function<void(const Fault&)> done;                // called once, on a worker thread
  std::function<void()> started;                         // if set: called once, when the first CTA is taken
};

struct GpuOptions {
  memory::AddressSpace* space = nullptr;  // where windows and the heap of kernels lie; null: anywhere
  u32 workers = 0;                        // 0 = host cores
  bool deterministic = false;             // one order of CTAs and warps
  u32 seed = 0;                           // chooses that order; 0: the usual one
  u32 sms = 132;
  AsyncChoice async;
  u32 spin_budget = 64;      // iterations of a spinning loop before the warp yields
  double spin_limit_s = 30;  // nothing but spinning for this long: reported as a deadlock
  bool alone = true;         // the only device: all of the global part of the address space is its own
  // Up to where the memory from an address on may be read, or written; 0: it may not. Null: everything.
  std::function<u64(u64 address, bool write)> reach;
  const memory::TextureTable* textures =
      nullptr;  // what texture and surface handles are looked up in; null: there are none
  u64 printf_fifo_bytes = 1 << 20;
  u64 malloc_heap_bytes = 8 << 20;
  std::function<void(std::string_view)> print;        // device printf output; default stdout
  std::function<void(std::string_view)> print_error;  // messages of failed assertions; default stderr
};

// What the host does, as far as the driver knows: of threads, how many wait for the device, and how many do work that
// the device may wait for (copies, host functions); and when work last ended. The deterministic clock looks at it.
struct HostActivity {
  std::atomic<i32> waiting{0}, working{0};
  std::atomic<u64> changed_ns{0};
};

class Gpu {
 public:
  explicit Gpu(GpuOptions);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  void submit(std::unique_ptr<Launch>);  // returns at once
  u32 workers() const;
  bool deterministic() const;
  HostActivity& host();
  u64 busy_ns() const;              // how long at least one grid was running
  bool set_malloc_heap(u64 bytes);  // false: a kernel has used the heap already
  void set_printf_fifo(u64 bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace us::device
