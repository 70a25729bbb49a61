// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 121
// Four floats are added at once while another block reads one of them.
#include "../twin.h"

__global__ void kernel(float4* sums, float* out) {
  const int t = threadIdx.x;
  atomicAdd(&sums[t], make_float4(1, 1, 1, 1));  // expect: race-atomic A
  if (blockIdx.x == 1) atomicAdd(&sums[t].z, 2.f);
  if (blockIdx.x == 1) out[t] = sums[t ^ 1].y;  // expect: race-atomic B
}

int main() {
  float* sums = device<float>(128, [](int) { return 0.f; });
  float* out = device<float>(32, [](int) { return 0.f; });
  kernel<<<2, 32>>>(reinterpret_cast<float4*>(sums), out);
  return ended();
}
