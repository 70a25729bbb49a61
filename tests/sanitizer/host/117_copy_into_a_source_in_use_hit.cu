// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 117
// A copy to the host overwrites the pinned buffer that another stream may still copy from.
#include "../twin.h"

int main() {
  int *one_data = zeros(1024), *two_data = iota(1024), *pinned;
  must(cudaMallocHost(&pinned, 4096), "cudaMallocHost");
  for (int i = 0; i < 1024; ++i) pinned[i] = 7;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaMemcpyAsync(one_data, pinned, 4096, cudaMemcpyHostToDevice, one);  // expect: race-host A
  cudaMemcpyAsync(pinned, two_data, 4096, cudaMemcpyDeviceToHost, two);  // expect: race-host B
  return ended();
}
