// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 117
// options: --host-pages
// It overwrites another buffer.
#include "../twin.h"

int main() {
  int *data = zeros(1024), *pinned, *next;
  must(cudaMallocHost(&pinned, 4096), "cudaMallocHost");
  must(cudaMallocHost(&next, 4096), "cudaMallocHost");
  for (int i = 0; i < 1024; ++i) pinned[i] = 7;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(data, pinned, 4096, cudaMemcpyHostToDevice, stream);
  next[0] = 8;
  return judge(data, 1024, [](int) { return 7; });
}
