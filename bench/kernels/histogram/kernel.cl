// SPDX-License-Identifier: Apache-2.0
#include "size.h"

__kernel __attribute__((reqd_work_group_size(kBlock, 1, 1))) void histogram(__global const uint* restrict in,
                                                                            volatile __global uint* out, int n) {
  volatile __local uint bins[kBins];
  const int t = get_local_id(0);
  bins[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    const uint word = in[i];
    atomic_inc(&bins[word & 255]);
    atomic_inc(&bins[word >> 8 & 255]);
    atomic_inc(&bins[word >> 16 & 255]);
    atomic_inc(&bins[word >> 24]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&out[t], bins[t]);
}
