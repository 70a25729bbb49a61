// SPDX-License-Identifier: Apache-2.0
// Copies and sets over linear memory, up to three dimensions. Addresses are host addresses: the device is in our process.
#pragma once
#include "driver/error.h"

namespace us::driver {

enum class CopyKind : int { HostToHost = 0, HostToDevice = 1, DeviceToHost = 2, DeviceToDevice = 3, Default = 4 };

struct Copy {
  u64 dst = 0, src = 0;
  u64 width = 0, height = 1, depth = 1;       // bytes, rows, slices
  u64 dst_pitch = 0, src_pitch = 0;           // bytes between rows
  u64 dst_slice = 0, src_slice = 0;           // bytes between slices
  bool dst_array = false, src_array = false;  // inside a CUDA array; its bounds were checked
  u64 bytes() const { return width * height * depth; }
  u64 src_extent() const { return height && depth ? (depth - 1) * src_slice + (height - 1) * src_pitch + width : 0; }
  u64 dst_extent() const { return height && depth ? (depth - 1) * dst_slice + (height - 1) * dst_pitch + width : 0; }
};

struct Fill {
  u64 dst = 0, pitch = 0, slice = 0;
  u64 width = 0, height = 1, depth = 1;  // elements, rows, slices
  u32 value = 0, element = 1;            // element size 1, 2 or 4
  u64 bytes() const { return width * element * height * depth; }
  u64 extent() const { return height && depth ? (depth - 1) * slice + (height - 1) * pitch + width * element : 0; }
};

void run(const Copy&);
void run(const Fill&);

}  // namespace us::driver
