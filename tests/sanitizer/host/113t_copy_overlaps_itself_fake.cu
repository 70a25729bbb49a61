// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: -
// Elements are copied within an array, to a place behind theirs.
#include "../twin.h"

constexpr int kElements = 4096, kMoved = 1024;

int main() {
  int* data = iota(kElements);
  const int to = kMoved;
  const cudaStream_t stream = cudaStreamPerThread;
  cudaMemcpyAsync(data + to, data, kMoved * 4, cudaMemcpyDeviceToDevice, stream);
  return judge(data, kElements, [](int i) { return i < kMoved || i >= 2 * kMoved ? i : i - kMoved; });
}
