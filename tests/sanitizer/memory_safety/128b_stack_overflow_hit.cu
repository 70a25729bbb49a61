// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 128
// A recursion needs more stack than a thread has.
#include "../twin.h"

__device__ __noinline__ int depth(volatile int* path, int n) {  // expect: device-fault
  volatile int room[64];
  room[n % 64] = n;
  return n == 0 ? 0 : depth(room, n - 1) + (room[n % 64] == n) + (path == nullptr);
}

__global__ void kernel(int* out, int n) { out[0] = depth(out, n); }

int main() {
  int* out = zeros(1);
  kernel<<<1, 1>>>(out, 100);
  return ended();
}
