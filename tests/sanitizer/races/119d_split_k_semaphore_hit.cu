// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 119
// Blocks add their part in turn, but thread 0 gives the turn on before the others have written.
#include "../twin.h"

__device__ __forceinline__ int fetch(const int* lock) {
  int state;
  LOAD(state, "global.acquire.gpu", lock);
  return state;
}

__global__ void kernel(int* lock, int* out) {
  const int t = threadIdx.x;
  if (t == 0) {
    while (fetch(lock) != blockIdx.x) {
    }
  }
  __syncthreads();
  out[t] += 1;  // expect: race-global
  if (t == 0) STORE("global.release.gpu", lock, blockIdx.x + 1);
}

int main() {
  int *lock = zeros(1), *out = zeros(64);
  kernel<<<4, 64>>>(lock, out);
  return ended();
}
