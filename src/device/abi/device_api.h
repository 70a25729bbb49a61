// SPDX-License-Identifier: Apache-2.0
// Functions of the runtime API as kernels call them (dynamic parallelism): how a call's arguments become words of
// RtFn::DeviceApi. Who does the work is DeviceRuntime (device_runtime.h).
#pragma once
#include <string_view>

#include "base/types.h"

namespace us::device {

enum class DeviceApi : u16 {
#define US_DEVICE_API(id, arguments, result) id,
#include "device/abi/device_api.inc"
#undef US_DEVICE_API
  Count
};

inline constexpr u32 kDeviceApiPerThread = 1u << 16;  // with a DeviceApi: the default stream is the thread's own
inline constexpr u32 kDeviceApiWords = 10;            // most words that the arguments of a call take
// cudaGraphSetConditional(handle, value) needs nobody: a handle is the address of the value. Any kernel may call it.
inline constexpr u32 kDeviceApiSetConditional = 0xffff;

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
std::string_view device_api_arguments(u32 number);                // the row's column, by DeviceApi

}  // namespace us::device
