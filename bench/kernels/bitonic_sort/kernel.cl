// SPDX-License-Identifier: Apache-2.0
#include "size.h"

// No #pragma unroll here: PoCL 3.1 sorts wrongly when both loops are unrolled (seen as unsorted segments).

__kernel __attribute__((reqd_work_group_size(kThreads, 1, 1))) void bitonic_sort(__global const int* restrict in,
                                                                                 __global int* restrict out) {
  __local int keys[kSegment];
  const int t = get_local_id(0);
  const size_t base = get_group_id(0) * (size_t)kSegment;
  keys[t] = in[base + t];
  keys[t + kThreads] = in[base + t + kThreads];
  for (int size = 2; size <= kSegment; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const int low = 2 * t - (t & (stride - 1)), high = low + stride;
      const bool ascending = (low & size) == 0;
      const int a = keys[low], b = keys[high];
      keys[low] = ascending ? min(a, b) : max(a, b);
      keys[high] = ascending ? max(a, b) : min(a, b);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + t] = keys[t];
  out[base + t + kThreads] = keys[t + kThreads];
}
