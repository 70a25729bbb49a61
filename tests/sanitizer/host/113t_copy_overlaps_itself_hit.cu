// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: -
// Elements are moved on within an array by one copy, to a place that overlaps theirs.
#include "../twin.h"

constexpr int kElements = 4096, kMoved = 1024;

int main() {
  int* data = iota(kElements);
  const int to = 16;
  const cudaStream_t stream = cudaStreamPerThread;
  cudaMemcpyAsync(data + to, data, kMoved * 4, cudaMemcpyDeviceToDevice, stream);  // expect: race-host
  return ended();
}
