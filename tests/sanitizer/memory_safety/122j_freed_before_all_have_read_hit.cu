// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 122
// One thread frees a list of the device's heap while the others may still read it.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int* list;
  if (threadIdx.x == 0) list = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  if (!list) return;
  list[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = list[threadIdx.x ^ 63];  // expect: use-after-free A
  if (threadIdx.x == 0) free(list);           // expect: use-after-free B
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
