// SPDX-License-Identifier: Apache-2.0
// One dynamic shared array cut into parts of different types, beside static arrays; more than 48 KB only after asking.
#include "program.h"
using namespace program;

__global__ void parts(uint64_t* out, int n) {
  extern __shared__ double pool[];
  __shared__ uint16_t small[64];
  __shared__ uint8_t bytes[64];
  double* d = pool;
  float* f = reinterpret_cast<float*>(d + n);
  uint16_t* h = reinterpret_cast<uint16_t*>(f + n);
  uint8_t* c = reinterpret_cast<uint8_t*>(h + n);
  const int t = threadIdx.x;
  for (int i = t; i < n; i += blockDim.x) d[i] = i * 0.5, f[i] = i * 0.25f, h[i] = mix(i), c[i] = mix(i) >> 16;
  if (t < 64) small[t] = t * 3, bytes[t] = t * 5;
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) {
    const int k = (i * 13 + 5) % n;
    out[blockIdx.x * n + i] = uint64_t(d[k] * 4) + (uint64_t(f[k] * 4) << 16) + (uint64_t(h[k]) << 32) + (uint64_t(c[k]) << 48) + small[k % 64] + bytes[i % 64];
  }
}

__global__ void large(uint32_t* out, int words) {
  extern __shared__ uint32_t cells[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) cells[i] = mix(i);
  __syncthreads();
  uint32_t sum = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) sum = sum * 3 + cells[words - 1 - i];
  out[threadIdx.x] = sum;
}

int main() {
  const int n = 500;
  Device<uint64_t> out(2 * n);
  parts<<<2, 96, n * 15>>>(out, n);
  MUST_RUN();
  std::vector<uint64_t> want(2 * n);
  for (int j = 0; j < 2 * n; ++j) {
    const int i = j % n, k = (i * 13 + 5) % n;
    want[j] = uint64_t(k * 2) + (uint64_t(k) << 16) + (uint64_t(uint16_t(mix(k))) << 32) + (uint64_t(uint8_t(mix(k) >> 16)) << 48) + k % 64 * 3 + uint8_t(i % 64 * 5);
  }
  expect_equal("parts of one array", out.copy(), want);

  const int words = 200 * 1024 / 4;
  Device<uint32_t> sums(128);
  large<<<1, 128, words * 4>>>(sums, words);
  std::printf("200 KB without asking: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("asking for 228 KB:     %s\n", cudaGetErrorName(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024)));
  (void)cudaGetLastError();
  MUST(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, words * 4));
  large<<<1, 128, words * 4>>>(sums, words);
  MUST_RUN();
  std::vector<uint32_t> wanted(128);
  for (int t = 0; t < 128; ++t)
    for (int i = t; i < words; i += 128) wanted[t] = wanted[t] * 3 + mix(words - 1 - i);
  expect_equal("200 KB of shared memory", sums.copy(), wanted);
  return finish();
}
