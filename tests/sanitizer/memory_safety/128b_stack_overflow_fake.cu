// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 128
// The program asked for a larger stack before.
#include "../twin.h"

__device__ __noinline__ int depth(volatile int* path, int n) {
  volatile int room[64];
  room[n % 64] = n;
  return n == 0 ? 0 : depth(room, n - 1) + (room[n % 64] == n) + (path == nullptr);
}

__global__ void kernel(int* out, int n) { out[0] = depth(out, n); }

int main() {
  int* out = zeros(1);
  must(cudaDeviceSetLimit(cudaLimitStackSize, 64 * 1024), "cudaDeviceSetLimit");
  kernel<<<1, 1>>>(out, 100);
  return judge(out, 1, [](int) { return 100; });
}
