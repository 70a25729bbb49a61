// SPDX-License-Identifier: Apache-2.0
// C = A * B of integers by clusters of 2 x 2 CTAs, each a tile of C. The CTAs of a row of the cluster need the same
// tile of A, those of a column the same tile of B: alone, each CTA asks for both; with multicast each asks for half of
// either, for itself and its neighbour. A slot is filled again when all its readers have released it (with multicast:
// the readers of both CTAs).
#include <cooperative_groups.h>

#include "../experiment.h"
using namespace gallery;
namespace cg = cooperative_groups;

constexpr int kTile = 64, kDepth = 32, kStages = 3, kThreads = 256;

struct Stage {
  Word a[kTile][kDepth];  // rows of A
  Word b[kDepth][kTile];
};

__device__ void multicast(void* to, const CUtensorMap* map, int x, int y, uint64_t* bar, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
          shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)), "h"(ctas) : "memory");
}

__device__ void arrive_at(uint64_t* bar, unsigned rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(shared_address(bar)), "r"(rank) : "memory");
}

// a: boxes of kTile or kTile / 2 rows; b: of kDepth or kDepth / 2.
template <bool kMulticast>
__global__ void __cluster_dims__(2, 2, 1) __launch_bounds__(kThreads)
    product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, Word* c, int n) {
  extern __shared__ __align__(1024) Stage stages[];
  __shared__ uint64_t full[kStages], empty[kStages];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), x = rank % 2, y = rank / 2;
  const unsigned beside = y * 2 + (x ^ 1), below = (y ^ 1) * 2 + x;
  const int row = blockIdx.y * kTile, column = blockIdx.x * kTile, t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) init_mbarrier(&full[s], 1), init_mbarrier(&empty[s], kMulticast ? 3 : 1);
    fence_mbarrier_init();
  }
  cluster.sync();
  const auto ask = [&](int k) {
    const int s = k % kStages, depth = k * kDepth;
    wait_mbarrier(&empty[s], (k / kStages & 1) ^ 1);
    expect(&full[s], sizeof(Stage));
    Stage& stage = stages[s];
    if (kMulticast) {
      multicast(stage.a[x * kTile / 2], &a, depth, row + x * kTile / 2, &full[s], uint16_t(1u << rank | 1u << beside));
      multicast(stage.b[y * kDepth / 2], &b, column, depth + y * kDepth / 2, &full[s], uint16_t(1u << rank | 1u << below));
    } else {
      load_tile(stage.a, &a, depth, row, &full[s]);
      load_tile(stage.b, &b, column, depth, &full[s]);
    }
  };
  const int steps = n / kDepth;
  if (t == 0)
    for (int k = 0; k < kStages - 1 && k < steps; ++k) ask(k);
  Word sum[4][4] = {};
  const int r = t / 16 * 4, q = t % 16 * 4;
  for (int k = 0; k < steps; ++k) {
    const int s = k % kStages;
    if (t == 0 && k + kStages - 1 < steps) ask(k + kStages - 1);
    wait_mbarrier(&full[s], k / kStages & 1);
#pragma unroll 4
    for (int d = 0; d < kDepth; ++d) {
      const uint4 right = *reinterpret_cast<const uint4*>(&stages[s].b[d][q]);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const Word left = stages[s].a[r + i][d];
        sum[i][0] += left * right.x, sum[i][1] += left * right.y, sum[i][2] += left * right.z, sum[i][3] += left * right.w;
      }
    }
    __syncthreads();
    if (t == 0) {
      arrive_at(&empty[s], rank);
      if (kMulticast) arrive_at(&empty[s], beside), arrive_at(&empty[s], below);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) *reinterpret_cast<uint4*>(c + size_t(row + r + i) * n + column + q) = make_uint4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
  cluster.sync();  // nobody leaves while others may still copy to it or arrive at it
}

int main(int argc, char** argv) {
  Experiment e(argc, argv);
  const int n = e.h200 ? 4096 : 256;
  const auto a = make_input(size_t(n) * n), b = std::vector<Word>(a.rbegin(), a.rend());
  const DeviceArray<Word> left(a), right(b);
  DeviceArray<Word> to(a.size());
  const auto correct = [&](const std::vector<Word>& got) {  // of the large size, some rows
    for (int y = 0; y < n; y += e.h200 ? 1021 : 1) {
      std::vector<Word> want(n);
      for (int k = 0; k < n; ++k)
        for (int x = 0; x < n; ++x) want[x] += a[size_t(y) * n + k] * b[size_t(k) * n + x];
      if (!std::equal(want.begin(), want.end(), got.begin() + size_t(y) * n)) return false;
    }
    return true;
  };
  const cuuint64_t dims[] = {cuuint64_t(n), cuuint64_t(n)}, strides[] = {4, cuuint64_t(n) * 4};
  const auto run = [&](const char* name, auto kernel, cuuint32_t parts) {
    const cuuint32_t box_a[] = {kDepth, kTile / parts}, box_b[] = {kTile, kDepth / parts};
    const CUtensorMap map_a = tensor_map(left.get(), dims, strides, box_a), map_b = tensor_map(right.get(), dims, strides, box_b);
    const int bytes = kStages * sizeof(Stage);
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
    to.fill(0xA5);
    const double ms = e.time([&] { kernel<<<dim3(n / kTile, n / kTile), kThreads, bytes>>>(map_a, map_b, to.get(), n); });
    const auto got = to.copy();
    e.report(name, got, correct(got), ms);
  };
  run("each CTA loads its tiles", product<false>, 1);
  run("tiles shared by multicast", product<true>, 2);
  return e.finish();
}
