// SPDX-License-Identifier: Apache-2.0
// What one thread or block of a kernel takes of an SM, as far as the program is told or a launch is judged by it. Our
// own compiled code has a layout of its own.
#pragma once
#include "base/types.h"
#include "driver/device_spec.h"
#include "ir/ir.h"
#include "sass/cubin.h"

namespace us::driver {

// Where the numbers are from, best last.
enum class FactSource : u8 { Estimate, Ptxas, Cubin };
const char* name_of(FactSource);

struct Resources {
  u32 registers = 0, local_bytes = 0, shared_static = 0;
  u64 const_bytes = 0;
  u32 max_threads_per_block = 1024;  // of the launch bound and of what the registers leave room for
  u32 ptx_version = 90, binary_version = 90;
  u32 registers_at_most = 0;  // what an estimate may be too low for; else the same
  FactSource origin = FactSource::Estimate;
};

// What is known about the modules of a library on a device. nullptr: nothing.
struct Facts {
  const sass::Cubin* cubin = nullptr;
  FactSource origin = FactSource::Estimate;
};

// `bound`: threads of the kernel's launch bound, or the device's limit.
Resources estimate(const ir::Function&, const ir::Module&, const DeviceSpec&, u32 bound, u64 const_bytes);
// False if the facts do not tell about this kernel on such a device.
bool exact(const Facts&, const std::string& kernel, const DeviceSpec&, u32 bound, Resources& out);

}  // namespace us::driver
