// SPDX-License-Identifier: Apache-2.0
#include "host_cuda.cuh"

__global__ void nbody(const float4* bodies, float4* out, float softening) {
  __shared__ float4 tile[kBlock];
  const int t = threadIdx.x, i = blockIdx.x * kBlock + t;
  const float4 me = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int j0 = 0; j0 < kBodies; j0 += kBlock) {
    tile[t] = bodies[j0 + t];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < kBlock; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
      const float force = other.w * inverse * inverse * inverse;
      ax += dx * force;
      ay += dy * force;
      az += dz * force;
    }
    __syncthreads();
  }
  out[i] = make_float4(ax, ay, az, 0);
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  nbody<<<grid, block>>>(a.buffer<float4>(0), a.buffer<float4>(1), a.scalar<float>(0));
}
