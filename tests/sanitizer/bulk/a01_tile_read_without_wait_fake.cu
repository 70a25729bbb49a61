// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: -
// covers: A1
// The readers wait for the phase: the completion of the copy publishes the bytes that it wrote.
#include "../tensor.h"

__global__ void kernel(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    FENCE_MBAR_INIT();
    MBAR_ARRIVE_EXPECT(&bar, 128);
    TENSOR_LOAD(tile, &map, 0, 0, &bar);
  }
  __syncthreads();
  MBAR_WAIT(&bar, 0);
  out[t] = tile[t];
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(tensor_map(in, {8, 4, 8, 4}), out);
  return judge(out, 32, [](int i) { return i; });
}
