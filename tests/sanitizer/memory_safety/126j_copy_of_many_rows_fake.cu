// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126
// Thousands of rows are copied and set, with padding between them.
#include "../twin.h"

constexpr int kRows = 5000, kWidth = 12;

__global__ void count(const char* copied, const char* set, size_t pitch, int* out) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= kRows) return;
  if (*(const int*)(copied + row * pitch + 8) == row) atomicAdd(out, 1);
  if (*(const int*)(set + row * pitch + 4) == 0) atomicAdd(out, 1);
}

int main() {
  char *copied, *set;
  size_t pitch;
  cudaMallocPitch(&copied, &pitch, kWidth, kRows);
  cudaMallocPitch(&set, &pitch, kWidth, kRows);
  std::vector<int> from(3 * kRows);
  for (int i = 0; i < 3 * kRows; i++) from[i] = i / 3;
  must(cudaMemcpy2D(copied, pitch, from.data(), kWidth, kWidth, kRows, cudaMemcpyHostToDevice), "cudaMemcpy2D");
  must(cudaMemset2D(set, pitch, 0, kWidth, kRows), "cudaMemset2D");
  int* out = zeros(1);
  count<<<(kRows + 127) / 128, 128>>>(copied, set, pitch, out);
  return judge(out, 1, [](int) { return 2 * kRows; });
}
