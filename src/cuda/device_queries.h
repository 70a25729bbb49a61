// SPDX-License-Identifier: Apache-2.0
// What kernels ask of the runtime API that needs its headers: names and texts of errors, attributes, the version.
#pragma once
#include <span>

#include "device/device_runtime.h"
#include "driver/code/function.h"

struct cudaFuncAttributes;

namespace us::cuda {
// The call's result: an error code, or the address of a text.
u64 answer_device_query(device::DeviceApi, u32 device, driver::Function*, std::span<const u64> words);
void describe(const driver::Function&, cudaFuncAttributes&);
}  // namespace us::cuda
