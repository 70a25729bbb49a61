// SPDX-License-Identifier: Apache-2.0
// Copies and sets over linear memory, up to three dimensions. Addresses are host addresses: the device is in our
// process.
#pragma once
#include "driver/error.h"

namespace us::driver {

enum class CopyKind : int { HostToHost = 0, HostToDevice = 1, DeviceToHost = 2, DeviceToDevice = 3, Default = 4 };

// Sizes come from the program: what does not fit in 64 bits is all of them, which lies in no allocation.
inline u64 clamped(unsigned __int128 v) { return v >> 64 ? ~u64(0) : static_cast<u64>(v); }
inline u64 times(u64 a, u64 b) { return clamped(static_cast<unsigned __int128>(a) * b); }
inline u64 volume(u64 width, u64 height, u64 depth) { return height && depth ? times(width, times(height, depth)) : 0; }
inline u64 reach(u64 width, u64 height, u64 depth, u64 pitch, u64 slice) {
  if (!height || !depth) return 0;
  return clamped(static_cast<unsigned __int128>(times(depth - 1, slice)) + times(height - 1, pitch) + width);
}

struct Copy {
  u64 dst = 0, src = 0;
  u64 width = 0, height = 1, depth = 1;       // bytes, rows, slices
  u64 dst_pitch = 0, src_pitch = 0;           // bytes between rows
  u64 dst_slice = 0, src_slice = 0;           // bytes between slices
  bool dst_array = false, src_array = false;  // inside a CUDA array; its bounds were checked
  i32 dst_device = -1, src_device = -1;       // by whose rights it is written and read; -1: the context's device
  u64 bytes() const { return volume(width, height, depth); }
  u64 src_extent() const { return reach(width, height, depth, src_pitch, src_slice); }
  u64 dst_extent() const { return reach(width, height, depth, dst_pitch, dst_slice); }
};

struct Fill {
  u64 dst = 0, pitch = 0, slice = 0;
  u64 width = 0, height = 1, depth = 1;  // elements, rows, slices
  u32 value = 0, element = 1;            // element size 1, 2 or 4
  u64 bytes() const { return volume(times(width, element), height, depth); }
  u64 extent() const { return reach(times(width, element), height, depth, pitch, slice); }
};

void run(const Copy&);
void run(const Fill&);

}  // namespace us::driver
