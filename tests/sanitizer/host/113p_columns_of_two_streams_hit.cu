// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// Two streams copy columns of one array of rows, and one of them a column too many.
#include "../twin.h"

int main() {
  int *p = iota(64 * 16), *q = zeros(64 * 16);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  const int left = 9;
  cudaMemcpy2DAsync(q, 64, p, 64, 4 * left, 64, cudaMemcpyDeviceToDevice, a);  // expect: race-host A
  cudaMemcpy2DAsync(q + 8, 64, p + 8, 64, 32, 64, cudaMemcpyDeviceToDevice, b);  // expect: race-host B
  cudaDeviceSynchronize();
  return ended();
}
