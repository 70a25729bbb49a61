// SPDX-License-Identifier: Apache-2.0
// All threads read one word of shared memory behind a barrier, and a thread writes the word for the next time without a
// barrier between. The programming model promises nothing here, but warps leave a barrier together on hardware, and
// programs rely on it: a block reduction that is called twice. Or all warps read the words of all, lane by lane, and
// then each writes its own.
#include "program.h"
using namespace program;

__device__ int block_sum(int v) {
  __shared__ int cell[32];
  for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
  if (threadIdx.x % 32 == 0) cell[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? cell[threadIdx.x] : 0;
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(~0u, v, k);
    if (threadIdx.x == 0) cell[0] = v;
  }
  __syncthreads();
  return cell[0];
}

__global__ void twice(int* out, const int* in, int n) {
  int sum = 0, above = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  const int mean = block_sum(sum) / n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) above += in[i] > mean;
  above = block_sum(above);
  out[2 * threadIdx.x] = mean;
  out[2 * threadIdx.x + 1] = above;
}

// The leader hands out work; which way a warp goes depends on what it read,
// so the warps are not known to keep together.
__global__ void handed_out(int* out, const int* in, int n) {
  __shared__ int next;
  int sum = 0;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  for (;;) {
    const int at = next;
    if (at >= n) break;
    sum += in[at] * (static_cast<int>(threadIdx.x) + 1);
    if (threadIdx.x == 0) next = at + 1 + in[at] % 3;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

// Sums of rows, by all warps alike: no warp is the one that hands the sum to the others.
__global__ void rows(int* out, const int* in, int width) {
  __shared__ int cell[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (warp == 0) cell[lane] = 0;
  __syncthreads();
  for (int r = 0; r < 4; ++r) {
    int v = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) v += in[r * width + i];
    cell[warp] = __reduce_add_sync(~0u, v);
    __syncthreads();
    out[r * blockDim.x + threadIdx.x] = __reduce_add_sync(~0u, cell[lane]);
  }
}

int main() {
  constexpr int kNumbers = 700;
  std::vector<int> in(kNumbers);
  const std::vector<uint32_t> words = random_words(kNumbers, 3);
  for (int i = 0; i < kNumbers; ++i) in[i] = static_cast<int>(words[i] % 1000);
  int mean = 0, above = 0, handed = 0;
  for (int v : in) mean += v;
  mean /= kNumbers;
  for (int v : in) above += v > mean;
  for (int at = 0; at < kNumbers; at += 1 + in[at] % 3) handed += in[at];

  int *d_in, *d_out;
  MUST(cudaMalloc(&d_in, sizeof(int) * kNumbers));
  MUST(cudaMalloc(&d_out, sizeof(int) * 4096));
  MUST(cudaMemcpy(d_in, in.data(), sizeof(int) * kNumbers, cudaMemcpyHostToDevice));
  for (int threads = 32; threads <= 1024; threads *= 2) {
    std::vector<int> out(2048);
    twice<<<1, threads>>>(d_out, d_in, kNumbers);
    MUST_RUN();
    MUST(cudaMemcpy(out.data(), d_out, sizeof(int) * 2048, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int t = 0; t < threads; ++t) wrong += out[2 * t] != mean || out[2 * t + 1] != above;
    handed_out<<<1, threads>>>(d_out, d_in, kNumbers);
    MUST_RUN();
    MUST(cudaMemcpy(out.data(), d_out, sizeof(int) * 2048, cudaMemcpyDeviceToHost));
    int unequal = 0;
    for (int t = 0; t < threads; ++t) unequal += out[t] != handed * (t + 1);
    std::printf("%d threads: mean %d, above %d, %d wrong; handed out %d, %d wrong\n", threads, mean, above, wrong, handed, unequal);
    constexpr int kWidth = kNumbers / 4;
    std::vector<int> sums(4 * threads), want(4 * threads);
    rows<<<1, threads>>>(d_out, d_in, kWidth);
    MUST_RUN();
    MUST(cudaMemcpy(sums.data(), d_out, sizeof(int) * sums.size(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4 * threads; ++i)
      for (int k = 0; k < kWidth; ++k) want[i] += in[i / threads * kWidth + k];
    expect_equal("rows", sums, want);
    if (wrong || unequal) all_passed() = false;
  }
  return finish();
}
