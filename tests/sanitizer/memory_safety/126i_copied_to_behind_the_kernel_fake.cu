// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126
// Memory is written by a copy before the kernel that reads it; the host is through with all calls before one runs.
#include "../twin.h"

__global__ void hold(int* out) {
  for (int i = 0; i < 2000; ++i) out[threadIdx.x] += 1;
}

__global__ void kernel(const int* state, int* out) {
  if (state[threadIdx.x] == 3)
    out[threadIdx.x] = 1;
}

int main() {
  int *out = zeros(32), *next = iota(32), *state = nullptr;
  must(cudaMalloc(&state, 32 * sizeof(int)), "cudaMalloc");
  hold<<<1, 32>>>(out);
  must(cudaMemcpyAsync(state, next, 32 * sizeof(int), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
  kernel<<<1, 32>>>(state, out);
  return judge(out, 32, [](int i) { return i == 3 ? 1 : 2000; });
}
