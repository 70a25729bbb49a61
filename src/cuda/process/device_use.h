// SPDX-License-Identifier: Apache-2.0
// What a device of this process is used for, without a context and without making anything. libnvidia-ml.so.1 asks
// libcuda for it (cuGetExportTable), if the process has loaded that.
#pragma once
#include "base/types.h"

namespace us::cuda {

struct DeviceUse {
  u64 bytes = 0;         // allocated, with what a context takes
  u64 busy_ns = 0;       // how long kernels have been running
  bool context = false;  // the primary one is active, or the program has made one
};
struct DeviceUseTable {
  DeviceUse (*ask)(u32 device);
};
const DeviceUseTable* device_use();

inline constexpr unsigned char kDeviceUseTableId[16] = {'u', 'n', 'd', 'e', 'r', 's', 't', 'u',
                                                        'd', 'y', '-', 'u', 's', 'e', '-', '1'};

}  // namespace us::cuda
