// SPDX-License-Identifier: Apache-2.0
// The runtime API inside kernels (dynamic parallelism). The driver does the work; the device passes on the calls of
// threads and asks when a grid has really ended: not before everything that it launched.
#pragma once
#include <functional>
#include <span>

#include "device/abi/device_api.h"

namespace us::device {

class GuestHeap;
struct Fault;

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
