// SPDX-License-Identifier: Apache-2.0
// Accesses and collectives that compiled code judges where they stand, right ones and wrong ones: test_in_place.py.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int kTile = 16, kSide = 256, kWords = kSide * kSide;

// Each half of a warp has a row of its own.
__device__ int place(int n, int shift = 0) {
  return (blockIdx.y * (kTile - shift) + threadIdx.y) * n + blockIdx.x * kTile + threadIdx.x;
}

__global__ void tiles_right(const float* in, float* out, int n) { out[place(n)] = 2 * in[place(n)]; }

__global__ void tiles_updated(float* out, int n) { out[place(n)] += 1; }

__global__ void tiles_overlap(const float* in, float* out, int n) {
  out[place(n, 4)] = in[place(n)] + blockIdx.y;  // expect: race-global
}

__global__ void tiles_read_neighbours(float* out, int n) {
  const int i = place(n);
  const float right = out[(i + kTile) % (n * n)];
  out[i] = right;  // expect: race-global
}

__global__ void tiles_outside(const float* in, float* out, int n) {
  const float x = in[place(n) + n];  // expect: bounds-global
  if (x == -1) out[0] = x;
}

__global__ void tiles_unwritten(const float* in, float* sums, int n) {
  const float x = in[place(n)];  // expect: uninitialised-load
  if (threadIdx.x == 0 && threadIdx.y == 0) sums[blockIdx.y * gridDim.x + blockIdx.x] = x;
}

// One block of many writes its neighbour's places.
__global__ void one_strays(const float* x, float* y, int n) {
  const int i = (blockIdx.x == 37 ? 38 : blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + blockIdx.x;  // expect: race-global
}

__global__ void many_right(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + y[i];
}

// Behind a barrier that orders nothing else a row is stored.
__global__ void reversed(const float* x, float* y) {
  __shared__ float tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  tile[t] = x[i];
  __syncthreads();
  y[i] = tile[255 - t];
}

// The barrier does not order what other blocks do.
__global__ void reversed_strays(const float* x, float* y) {
  __shared__ float tile[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  tile[t] = x[i];
  __syncthreads();
  y[blockIdx.x == 100 ? i + 256 : i] = tile[255 - t] + blockIdx.x;  // expect: race-global
}

__global__ void sums_right(const float* x, float* sums) {
  float s = x[blockIdx.x * 64 + threadIdx.x];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) sums[blockIdx.x * 2 + threadIdx.x / 32] = s;
}

__global__ void sums_of_a_part(const float* x, float* sums) {
  float s = x[blockIdx.x * 64 + threadIdx.x];
  if (threadIdx.x % 32 < 16) s += __shfl_xor_sync(~0u, s, 1);
  const unsigned big = __ballot_sync(~0u, s > 1);  // expect: warp-mask
  if (threadIdx.x % 32 == 0) sums[blockIdx.x * 2 + threadIdx.x / 32] = big;
}

int main() {
  float *in, *out, *unwritten;
  cudaMalloc(&in, kWords * sizeof(float));
  cudaMalloc(&out, kWords * sizeof(float));
  cudaMalloc(&unwritten, kWords * sizeof(float));
  cudaMemset(in, 0, kWords * sizeof(float));
  cudaMemset(out, 0, kWords * sizeof(float));
  const dim3 grid(kSide / kTile, kSide / kTile), block(kTile, kTile);
  for (int turn = 0; turn < 2; ++turn) {
    tiles_right<<<grid, block>>>(in, out, kSide);
    tiles_updated<<<grid, block>>>(out, kSide);
    many_right<<<kWords / 256, 256>>>(in, out, kWords - 100);
    reversed<<<kWords / 256, 256>>>(in, out);
    sums_right<<<kWords / 64, 64>>>(in, out);
  }
  tiles_overlap<<<grid, block>>>(in, out, kSide);
  tiles_read_neighbours<<<grid, block>>>(out, kSide);
  tiles_unwritten<<<grid, block>>>(unwritten, out, kSide);
  one_strays<<<kWords / 256, 256>>>(in, out, kWords);
  reversed_strays<<<kWords / 256 - 1, 256>>>(in, out);
  sums_of_a_part<<<kWords / 64, 64>>>(in, out);
  tiles_outside<<<grid, block>>>(in, out, kSide);
  std::puts(cudaDeviceSynchronize() == cudaSuccess ? "ok" : "failed");
}
