// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 117
// options: --host-pages
// The host overwrites the pinned buffer that a stream may still copy from.
#include "../twin.h"

int main() {
  int *data = zeros(1024), *pinned, *next;
  must(cudaMallocHost(&pinned, 4096), "cudaMallocHost");
  must(cudaMallocHost(&next, 4096), "cudaMallocHost");
  for (int i = 0; i < 1024; ++i) pinned[i] = 7;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(data, pinned, 4096, cudaMemcpyHostToDevice, stream);  // expect: race-host A
  pinned[0] = 8;  // expect: race-host B
  return ended();
}
