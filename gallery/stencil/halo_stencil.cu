// SPDX-License-Identifier: Apache-2.0
// A 2-D star of radius 8 (halo, centre, halo) over the planes of a volume; a block walks down one column of tiles.
//
//   sync          shared[i] = global[i]: through registers
//   un-staged     cp.async, all loads of a tile in flight, then wait
//   two, three    the same in a ring of two or three tiles: the next ones travel while one is worked on
//   bulk tensor   one thread asks for the whole tile with its halo, and the edge of the volume is filled by the copy
#include <cuda_pipeline_primitives.h>

#include <cmath>

#include "../experiment.h"
#pragma nv_diag_suppress 20013, 20015  // the lambda of the CPU twin is for the CPU only
using namespace gallery;

constexpr int kRadius = 8, kX = 32, kY = 8, kWide = kX + 2 * kRadius, kHigh = kY + 2 * kRadius, kTile = kWide * kHigh;

struct Volume {
  const float* in;
  float* out;
  int nx, ny, nz;
};

__host__ __device__ constexpr float weight(int r) { return 1.0f / float(3 * r + 4); }

// in: the centre, in rows `pitch` apart.
template <class At>
__host__ __device__ inline float star(At at) {
  float sum = at(0, 0) * weight(0);
#pragma unroll
  for (int r = 1; r <= kRadius; ++r) {
    sum = fmaf(at(-r, 0), weight(r), sum);
    sum = fmaf(at(r, 0), weight(r), sum);
    sum = fmaf(at(0, -r), weight(r), sum);
    sum = fmaf(at(0, r), weight(r), sum);
  }
  return sum;
}

__device__ void work(const Volume& v, const float* tile, int z) {
  const float* here = tile + (threadIdx.y + kRadius) * kWide + threadIdx.x + kRadius;
  const int x = blockIdx.x * kX + threadIdx.x, y = blockIdx.y * kY + threadIdx.y;
  v.out[(size_t(z) * v.ny + y) * v.nx + x] = star([&](int dx, int dy) { return here[dy * kWide + dx]; });
}

// The words of a tile that a thread brings: their places in a plane do not change from plane to plane.
constexpr int kThreads = kX * kY, kWords = (kTile + kThreads - 1) / kThreads;
struct Share {
  int offset[kWords];  // negative: outside
  __device__ explicit Share(const Volume& v) {
#pragma unroll
    for (int k = 0; k < kWords; ++k) {
      const int i = me() + k * kThreads, x = int(blockIdx.x * kX) + i % kWide - kRadius, y = int(blockIdx.y * kY) + i / kWide - kRadius;
      offset[k] = x >= 0 && x < v.nx && y >= 0 && y < v.ny ? y * v.nx + x : -1;
    }
  }
  static __device__ int me() { return threadIdx.y * kX + threadIdx.x; }
  // f(place in the tile, address in the volume, is it inside)
  template <class F>
  __device__ void each(const Volume& v, int z, F f) const {
    const float* plane = v.in + size_t(z) * v.ny * v.nx;
#pragma unroll
    for (int k = 0; k < kWords; ++k)
      if ((k + 1) * kThreads <= kTile || me() + k * kThreads < kTile) f(me() + k * kThreads, plane + max(offset[k], 0), offset[k] >= 0);
  }
};

__global__ void __launch_bounds__(256) sync_copy(Volume v) {
  __shared__ float tile[kTile];
  const Share share(v);
  for (int z = blockIdx.z; z < v.nz; z += gridDim.z) {
    share.each(v, z, [&](int i, const float* from, bool inside) { tile[i] = inside ? *from : 0.0f; });
    __syncthreads();
    work(v, tile, z);
    __syncthreads();
  }
}

template <int kStages>
__global__ void __launch_bounds__(256) staged(Volume v) {
  __shared__ float tiles[kStages][kTile];
  const Share share(v);
  const auto fetch = [&](int z, int slot) {
    if (z < v.nz) share.each(v, z, [&](int i, const float* from, bool inside) { __pipeline_memcpy_async(&tiles[slot][i], from, 4, inside ? 0 : 4); });
    __pipeline_commit();
  };
  for (int k = 0; k + 1 < kStages; ++k) fetch(blockIdx.z + k * gridDim.z, k);
  int slot = 0;
  for (int z = blockIdx.z; z < v.nz; z += gridDim.z, slot = (slot + 1) % kStages) {
    fetch(z + (kStages - 1) * gridDim.z, (slot + kStages - 1) % kStages);
    __pipeline_wait_prior(kStages - 1);
    __syncthreads();
    work(v, tiles[slot], z);
    __syncthreads();
  }
}

template <int kStages>
__global__ void __launch_bounds__(256) bulk_tensor(const __grid_constant__ CUtensorMap map, Volume v) {
  __shared__ alignas(128) float tiles[kStages][kTile];
  __shared__ uint64_t full[kStages];
  const bool leader = threadIdx.x == 0 && threadIdx.y == 0;
  if (leader) {
    for (auto& bar : full) init_mbarrier(&bar, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  const auto fetch = [&](int z, int slot) {
    if (!leader || z >= v.nz) return;
    expect(&full[slot], kTile * sizeof(float));
    load_tile(tiles[slot], &map, int(blockIdx.x * kX) - kRadius, int(blockIdx.y * kY) - kRadius, z, &full[slot]);
  };
  for (int k = 0; k + 1 < kStages; ++k) fetch(blockIdx.z + k * gridDim.z, k);
  int slot = 0, parity = 0;
  for (int z = blockIdx.z; z < v.nz; z += gridDim.z) {
    fetch(z + (kStages - 1) * gridDim.z, (slot + kStages - 1) % kStages);
    wait_mbarrier(&full[slot], parity);
    work(v, tiles[slot], z);
    __syncthreads();
    if (++slot == kStages) slot = 0, parity ^= 1;
  }
}

int main(int argc, char** argv) {
  Experiment e(argc, argv);
  const int nx = e.h200 ? 2048 : 96, ny = e.h200 ? 2048 : 40, nz = e.h200 ? 32 : 7, columns = e.h200 ? 1 : 2;
  const size_t count = size_t(nx) * ny * nz;
  std::vector<float> in(count);
  Word state = 1;
  for (float& f : in) state = state * 1664525u + 1013904223u, f = unit(state) - 0.5f;
  const DeviceArray<float> from(in);
  DeviceArray<float> to(count);
  const Volume v{from.get(), to.get(), nx, ny, nz};
  const dim3 grid(nx / kX, ny / kY, columns), block(kX, kY);
  const cuuint64_t dims[] = {cuuint64_t(nx), cuuint64_t(ny), cuuint64_t(nz)}, strides[] = {4, cuuint64_t(nx) * 4, cuuint64_t(nx) * ny * 4};
  const cuuint32_t box[] = {kWide, kHigh, 1};
  const CUtensorMap map = tensor_map(from.get(), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);

  const auto right = [&](const std::vector<float>& got) {  // of the large size, two planes
    for (int z = 0; z < nz; z += e.h200 ? nz - 1 : 1)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
          const float want = star([&](int dx, int dy) {
            const int a = x + dx, b = y + dy;
            return a < 0 || a >= nx || b < 0 || b >= ny ? 0.0f : in[(size_t(z) * ny + b) * nx + a];
          });
          if (got[(size_t(z) * ny + y) * nx + x] != want) return false;
        }
    return true;
  };
  const auto run = [&](const char* name, auto launch) {
    to.fill(0xA5);
    const double ms = e.time(launch);
    const auto got = to.copy();
    e.report(name, got, right(got), ms, 8.0 * double(count));
  };
  run("sync", [&] { sync_copy<<<grid, block>>>(v); });
  run("cp.async, un-staged", [&] { staged<1><<<grid, block>>>(v); });
  run("cp.async, two stages", [&] { staged<2><<<grid, block>>>(v); });
  run("cp.async, three stages", [&] { staged<3><<<grid, block>>>(v); });
  run("bulk tensor, one stage", [&] { bulk_tensor<1><<<grid, block>>>(map, v); });
  run("bulk tensor, two stages", [&] { bulk_tensor<2><<<grid, block>>>(map, v); });
  run("bulk tensor, three stages", [&] { bulk_tensor<3><<<grid, block>>>(map, v); });
  return e.finish();
}
