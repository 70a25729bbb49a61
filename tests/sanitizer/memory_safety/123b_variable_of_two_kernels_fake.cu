// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 123
// The variable of the function lies elsewhere in the second kernel, which has variables of its own.
#include "../twin.h"

template <typename T>
__device__ T sum(T x, int at) {
  __shared__ T parts[8];
  parts[at] = x;
  __syncthreads();
  T all = 0;
  for (T p : parts) all += p;
  return all;
}

__global__ void first(int* out) { out[threadIdx.x] = sum(1, threadIdx.x); }

__global__ void second(int* out) {
  __shared__ float scale;
  __shared__ int value;
  if (threadIdx.x == 0) value = 2, scale = out[0];
  __syncthreads();
  const int x = value;
  const float by = scale;
  out[threadIdx.x] = sum(x, threadIdx.x) + (by > 1e9f);
}

int main() {
  int* out = zeros(8);
  first<<<1, 8>>>(out);
  second<<<1, 8>>>(out);
  return judge(out, 8, [](int) { return 16; });
}
