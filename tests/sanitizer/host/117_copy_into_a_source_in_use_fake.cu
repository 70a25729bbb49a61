// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 117
// The first stream is synchronised before.
#include "../twin.h"

int main() {
  int *one_data = zeros(1024), *two_data = iota(1024), *pinned;
  must(cudaMallocHost(&pinned, 4096), "cudaMallocHost");
  for (int i = 0; i < 1024; ++i) pinned[i] = 7;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaMemcpyAsync(one_data, pinned, 4096, cudaMemcpyHostToDevice, one);
  cudaStreamSynchronize(one);
  cudaMemcpyAsync(pinned, two_data, 4096, cudaMemcpyDeviceToHost, two);
  return judge(one_data, 1024, [](int) { return 7; });
}
