// SPDX-License-Identifier: Apache-2.0
#include "size.h"

// OpenCL 1.2 has neither shuffles nor float atomics: a tree in local memory, then compare-and-swap.
void atomic_add_float(volatile __global float* address, float value) {
  volatile __global int* word = (volatile __global int*)address;
  int seen = *word, expected;
  do {
    expected = seen;
    seen = atomic_cmpxchg(word, expected, as_int(as_float(expected) + value));
  } while (seen != expected);
}

__kernel __attribute__((reqd_work_group_size(kBlock, 1, 1))) void reduction(__global const float* restrict in,
                                                                            volatile __global float* out) {
  __local float partial[kBlock];
  const int t = get_local_id(0);
  __global const float* from = in + get_group_id(0) * (size_t)kPerBlock + t;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) sum += from[k * kBlock];
  partial[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = kBlock / 2; width > 0; width /= 2) {
    if (t < width) partial[t] += partial[t + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) atomic_add_float(out, partial[0]);
}
