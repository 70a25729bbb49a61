// SPDX-License-Identifier: Apache-2.0
#include "size.h"

__kernel __attribute__((reqd_work_group_size(kBlock, 1, 1))) void copy_transform(
    __global const float* restrict in, __global float* restrict out, float scale, float bias) {
  __local float tile[kBlock];
  const int t = get_local_id(0), i = get_group_id(0) * kBlock + t;
  tile[t] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = scale * tile[kBlock - 1 - t] + bias;
}
