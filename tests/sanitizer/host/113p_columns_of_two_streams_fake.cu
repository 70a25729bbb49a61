// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// Two streams copy columns of their own of one array of rows.
#include "../twin.h"

int main() {
  int *p = iota(64 * 16), *q = zeros(64 * 16);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  const int left = 8;
  cudaMemcpy2DAsync(q, 64, p, 64, 4 * left, 64, cudaMemcpyDeviceToDevice, a);
  cudaMemcpy2DAsync(q + 8, 64, p + 8, 64, 32, 64, cudaMemcpyDeviceToDevice, b);
  cudaDeviceSynchronize();
  return judge(q, 64 * 16, [](int i) { return i; });
}
