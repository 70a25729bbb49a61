// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 121
// Four floats are added at once, and one of them by another block: each is an atomic of its own.
#include "../twin.h"

__global__ void kernel(float4* sums, float* out) {
  const int t = threadIdx.x;
  atomicAdd(&sums[t], make_float4(1, 1, 1, 1));
  if (blockIdx.x == 1) atomicAdd(&sums[t].z, 2.f);
}

int main() {
  float* sums = device<float>(128, [](int) { return 0.f; });
  float* out = device<float>(32, [](int) { return 0.f; });
  kernel<<<2, 32>>>(reinterpret_cast<float4*>(sums), out);
  return judge(sums, 128, [](int i) { return i % 4 == 2 ? 4 : 2; });
}
