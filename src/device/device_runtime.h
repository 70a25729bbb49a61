// SPDX-License-Identifier: Apache-2.0
// The runtime API inside kernels (dynamic parallelism). The driver does the work; the device passes on the calls of threads
// and asks when a grid has really ended: not before everything that it launched.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "base/types.h"

namespace us::device {

class GuestHeap;
struct Fault;

enum class DeviceApi : u16 {
#define US_DEVICE_API(id, arguments, result) id,
#include "device/abi/device_api.inc"
#undef US_DEVICE_API
  Count
};

inline constexpr u32 kDeviceApiPerThread = 1u << 16;  // with a DeviceApi: the default stream is the thread's own
inline constexpr u32 kDeviceApiWords = 10;            // most words that the arguments of a call take

// A word of the arguments: `bytes` bytes at `byte` of argument `argument`.
struct DeviceApiWord {
  u8 argument = 0, byte = 0, bytes = 0;
};
struct DeviceApiForm {
  u32 number = 0;  // the DeviceApi, with kDeviceApiPerThread
  u32 result_bytes = 0, words = 0;
  DeviceApiWord word[kDeviceApiWords];
};
bool find_device_api(std::string_view name, DeviceApiForm& out);  // by the name in device code
bool is_device_api(std::string_view name);                        // named like one, known or not
bool launches_grids(std::string_view name);                       // one of dynamic parallelism

// Who calls.
struct DeviceCaller {
  u64 block = 0;   // linear
  u32 thread = 0;  // linear
  GuestHeap* heap = nullptr;
  bool own_default_stream = false;
};

class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  // On a worker, maybe on a fibre. A write to memory of the program may fault and never come back.
  virtual u64 call(DeviceApi, const DeviceCaller&, std::span<const u64> words) = 0;
  virtual void grid_ended(const Fault&, std::function<void(const Fault&)> done) = 0;
};

}  // namespace us::device
