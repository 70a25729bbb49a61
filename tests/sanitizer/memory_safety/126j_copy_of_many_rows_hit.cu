// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// Thousands of rows are copied with padding between them; one more row is read.
#include "../twin.h"

constexpr int kRows = 5000, kWidth = 12;

__global__ void count(const char* copied, size_t pitch, int* out) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row > kRows) return;
  if (*(const int*)(copied + row * pitch + 8) == row) atomicAdd(out, 1);  // expect: uninitialised
}

int main() {
  char* copied;
  size_t pitch;
  cudaMallocPitch(&copied, &pitch, kWidth, kRows + 1);
  std::vector<int> from(3 * kRows);
  for (int i = 0; i < 3 * kRows; i++) from[i] = i / 3;
  must(cudaMemcpy2D(copied, pitch, from.data(), kWidth, kWidth, kRows, cudaMemcpyHostToDevice), "cudaMemcpy2D");
  int* out = zeros(1);
  count<<<(kRows + 128) / 128, 128>>>(copied, pitch, out);
  return ended();
}
