// SPDX-License-Identifier: Apache-2.0
// F1, F2: halo, centre, halo. Which words a thread fetches depends on its row (the same in a warp), so the
// synchronous form waits for one load after the other; cp.async has all of a tile under way, and in a ring those of
// the next, too.
#include <cuda_pipeline_primitives.h>

#include "effects.h"

constexpr int kX = 64, kY = 8, kRadius = 4, kHigh = kY + 2 * kRadius, kWidth = 1024, kHeight = 512, kPlanes = 32;

struct Tile {
  float at[kHigh][kX];
};

template <class Copy>
__device__ void fetch(Tile& t, const float* in, int z, Copy copy) {
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * kX + tx, y = blockIdx.y * kY + ty;
  const float* const here = in + (size_t(z) * kHeight + y) * kWidth + x;
  if (ty < kRadius && y >= kRadius) copy(&t.at[ty][tx], here - kRadius * kWidth);
  copy(&t.at[ty + kRadius][tx], here);
  if (ty >= kY - kRadius && y + kRadius < kHeight) copy(&t.at[ty + 2 * kRadius][tx], here + kRadius * kWidth);
}

__device__ void work(const Tile& t, float* out, int z) {
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * kX + tx, y = blockIdx.y * kY + ty;
  float sum = t.at[ty + kRadius][tx];
#pragma unroll
  for (int r = 1; r <= kRadius; ++r) {
    if (y >= kRadius) sum += t.at[ty + kRadius - r][tx] * (1.0f / (r + 1));
    if (y + kRadius < kHeight) sum += t.at[ty + kRadius + r][tx] * (1.0f / (r + 1));
  }
  out[(size_t(z) * kHeight + y) * kWidth + x] = sum;
}

__global__ void sync_copy(const float* in, float* out) {
  __shared__ Tile tile;
  for (int z = 0; z < kPlanes; ++z) {
    fetch(tile, in, z, [](float* to, const float* from) { *to = *from; });
    __syncthreads();
    work(tile, out, z);
    __syncthreads();
  }
}

// The same, when the compiler may not have several loads under way.
__global__ void sync_in_turn(const float* in, float* out) {
  __shared__ Tile tile;
  for (int z = 0; z < kPlanes; ++z) {
    fetch(tile, in, z, [](float* to, const float* from) {
      *const_cast<volatile float*>(to) = *from;
      __syncwarp();
    });
    __syncthreads();
    work(tile, out, z);
    __syncthreads();
  }
}

template <int kStages>
__global__ void staged(const float* in, float* out) {
  __shared__ Tile tiles[kStages];
  const auto bring = [&](int z) {
    if (z < kPlanes) fetch(tiles[z % kStages], in, z, [](float* to, const float* from) { __pipeline_memcpy_async(to, from, 4); });
    __pipeline_commit();
  };
  for (int z = 0; z < kStages - 1; ++z) bring(z);
  for (int z = 0; z < kPlanes; ++z) {
    bring(z + kStages - 1);
    __pipeline_wait_prior(kStages - 1);
    __syncthreads();
    work(tiles[z % kStages], out, z);
    __syncthreads();
  }
}

int main(int argc, char** argv) {
  arguments(argc, argv);
  const size_t n = size_t(kWidth) * kHeight * kPlanes;
  std::vector<float> in(n), out(n);
  unsigned state = 1;
  for (float& f : in) state = state * 1664525u + 1013904223u, f = float(state >> 24);
  float *from, *to;
  MUST(cudaMalloc(&from, n * 4)), MUST(cudaMalloc(&to, n * 4));
  MUST(cudaMemcpy(from, in.data(), n * 4, cudaMemcpyHostToDevice));
  const dim3 grid(kWidth / kX, kHeight / kY), block(kX, kY);
  const auto one = [&](const char* name, auto kernel) {
    MUST(cudaMemset(to, 0, n * 4));
    tell(name, microseconds(nullptr, [&] { kernel<<<grid, block>>>(from, to); }));
    MUST(cudaMemcpy(out.data(), to, n * 4, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i += 997) {
      const int y = int(i / kWidth % kHeight);
      float sum = in[i];
      for (int r = 1; r <= kRadius; ++r) {
        if (y >= kRadius) sum += in[i - size_t(r) * kWidth] * (1.0f / (r + 1));
        if (y + kRadius < kHeight) sum += in[i + size_t(r) * kWidth] * (1.0f / (r + 1));
      }
      check(std::abs(out[i] - sum) <= 1e-3f * std::abs(sum) + 1e-3f, name);
    }
  };
  one("sync", sync_copy);
  one("sync_in_turn", sync_in_turn);
  one("unstaged", staged<1>);
  one("two_stages", staged<2>);
  one("three_stages", staged<3>);
  std::puts("ok");
}
