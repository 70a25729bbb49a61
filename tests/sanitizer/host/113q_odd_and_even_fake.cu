// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// Two kernels of two streams write the odd and the even elements.
#include "../twin.h"

__global__ void fill(int* p, int first) {
  p[2 * threadIdx.x + first] = first;
}

int main() {
  int* p = zeros(128);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  fill<<<1, 64, 0, a>>>(p, 0);
  fill<<<1, 64, 0, b>>>(p, 1);
  return judge(p, 128, [](int i) { return i % 2; });
}
