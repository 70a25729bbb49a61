// SPDX-License-Identifier: Apache-2.0
// The limits of the modelled device that the driver itself obeys. A preset fills it; the defaults are the H200's.
// (Attributes that are only reported to the program live with the preset, not here.)
#pragma once
#include <string>
#include <vector>

#include "base/types.h"

namespace us::driver {

using SmSet = std::vector<u32>;  // numbers of multiprocessors

struct DeviceSpec {
  std::string name = "NVIDIA H200";
  u32 cc_major = 9, cc_minor = 0;
  u32 sms = 132;
  u64 total_memory = 150109880320;
  u64 context_memory = 552402944;  // total - free right after the primary context was made
  u32 max_threads_per_block = 1024;
  u32 max_block[3] = {1024, 1024, 64};
  u32 max_grid[3] = {2147483647, 65535, 65535};
  u32 shared_per_block = 49152;
  u32 shared_per_block_optin = 232448;
  u32 shared_per_sm = 233472;
  u32 shared_reserved_per_block = 1024;
  u32 shared_granularity = 128;
  std::vector<u32> shared_carveouts_kb = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  u32 regs_per_block = 65536, regs_per_sm = 65536;
  u32 reg_granularity = 256;  // registers are given out per warp in this unit
  u32 max_regs_per_thread = 255;
  u32 max_threads_per_sm = 2048, max_blocks_per_sm = 32;
  u32 warp_size = 32;
  u64 constant_memory = 65536;
  u64 max_pitch = 2147483647;
  u32 texture_alignment = 512;
  u32 max_cluster_portable = 8, max_cluster = 16;
  u32 max_cluster_blocks_per_sm = 8;
  std::vector<u32> gpc_sms = {18, 18, 16, 16, 16, 16,
                              16, 8,  2,  2,  2,  2};  // from the largest number of active clusters of each size
  int stream_priority_least = 0, stream_priority_greatest = -5;
  u32 sm_clock_khz = 1980000;
  u64 l2_bytes = 62914560, max_persisting_l2 = 39321600;
  u64 limit_stack = 1024, limit_printf_fifo = 8650752, limit_malloc_heap = 8388608, limit_persisting_l2 = 11796480;
};

}  // namespace us::driver
