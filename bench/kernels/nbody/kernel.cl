// SPDX-License-Identifier: Apache-2.0
#include "size.h"

__kernel __attribute__((reqd_work_group_size(kBlock, 1, 1))) void nbody(__global const float4* restrict bodies,
                                                                        __global float4* restrict out, float softening) {
  __local float4 tile[kBlock];
  const int t = get_local_id(0), i = get_group_id(0) * kBlock + t;
  const float4 me = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int j0 = 0; j0 < kBodies; j0 += kBlock) {
    tile[t] = bodies[j0 + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < kBlock; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
      const float force = other.w * inverse * inverse * inverse;
      ax += dx * force;
      ay += dy * force;
      az += dz * force;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = (float4)(ax, ay, az, 0);
}
