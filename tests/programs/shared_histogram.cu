// SPDX-License-Identifier: Apache-2.0
// A histogram with shared atomics and a grid-stride loop, then a prefix sum over its bins,
// then a counting sort with both.
#include "program.h"
using namespace program;

constexpr int kBins = 256;
__global__ void histogram(uint32_t* bins, const uint8_t* in, int n) {
  __shared__ uint32_t mine[kBins];
  for (int k = threadIdx.x; k < kBins; k += blockDim.x) mine[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i]], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < kBins; k += blockDim.x) atomicAdd(&bins[k], mine[k]);
}
__global__ void exclusive_sum(uint32_t* start, const uint32_t* bins) {
  __shared__ uint32_t buffer[2][kBins];
  const int t = threadIdx.x;
  int now = 0;
  buffer[0][t] = t ? bins[t - 1] : 0;
  __syncthreads();
  for (int step = 1; step < kBins; step *= 2, now ^= 1) {
    buffer[now ^ 1][t] = buffer[now][t] + (t >= step ? buffer[now][t - step] : 0);
    __syncthreads();
  }
  start[t] = buffer[now][t];
}
__global__ void place(uint8_t* out, uint32_t* next, const uint8_t* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[atomicAdd(&next[in[i]], 1)] = in[i];
}

int main() {
  const int n = 200003;
  std::vector<uint8_t> in(n), sorted;
  std::vector<uint32_t> want(kBins), start(kBins);
  for (int i = 0; i < n; ++i) in[i] = uint8_t(mix(i) & mix(i + 1)), ++want[in[i]];
  for (int k = 1; k < kBins; ++k) start[k] = start[k - 1] + want[k - 1];
  for (int k = 0; k < kBins; ++k) sorted.insert(sorted.end(), want[k], uint8_t(k));
  Device<uint8_t> from(in), out(n);
  Device<uint32_t> bins(kBins), next(kBins);
  histogram<<<17, 160>>>(bins, from, n);
  exclusive_sum<<<1, kBins>>>(next, bins);
  MUST_RUN();
  expect_equal("histogram", bins.copy(), want);
  expect_equal("prefix sum", next.copy(), start);
  place<<<(n + 255) / 256, 256>>>(out, next, from, n);
  MUST_RUN();
  expect_equal("counting sort", out.copy(), sorted);
  return finish();
}
