// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 82, 83
// may: barrier-exit
// Threads without work store a default and return: the compiler makes one store of that and of the others' last one.
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  __shared__ int slot[64];
  const int t = threadIdx.x;
  if (t >= n) {
    out[t] = 0;
    return;
  }
  slot[t] = t;
  __syncthreads();
  out[t] = slot[t ^ 1];
}

__global__ void sums(int* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) {
    out[t] = 1;
    return;
  }
  const int sum = __shfl_xor_sync(0xffffffff, t, 1);
  out[t + 32] = sum;
  out[t] = 1;
}

int main() {
  int* out = zeros(128);
  kernel<<<1, 64>>>(out, 40);
  sums<<<1, 32>>>(out + 64, 20);
  return judge(out, 64, [](int i) { return i < 40 ? i ^ 1 : 0; });
}
