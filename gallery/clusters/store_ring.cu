// SPDX-License-Identifier: Apache-2.0
// Eight CTAs in a ring. In each round every thread sends 16 bytes from its registers into the shared memory of the next
// CTA (st.async). The mbarrier there counts the bytes, so the receiver waits for data and signal at once. Two slots
// take turns; a remote arrival tells the sender when one is free again.
#include <cooperative_groups.h>

#include "../experiment.h"
using namespace gallery;
namespace cg = cooperative_groups;

constexpr int kRing = 8, kThreads = 64;

__device__ uint32_t in_block(const void* p, unsigned rank) {
  uint32_t a;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(shared_address(p)), "r"(rank));
  return a;
}

__device__ uint4 step(uint4 v, unsigned rank) {
  v.x = v.x * 0x9E3779B1u + rank, v.y ^= rotate(v.x, 7), v.z += v.y, v.w = rotate(v.w, 3) ^ v.z;
  return v;
}

__global__ void __cluster_dims__(kRing, 1, 1) __launch_bounds__(kThreads) ring(const uint4* in, uint4* out, int rounds) {
  __shared__ uint4 slots[2][kThreads];
  __shared__ uint64_t full[2], empty[2];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % kRing, before = (rank + kRing - 1) % kRing, t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s) init_mbarrier(&full[s], 1), init_mbarrier(&empty[s], kThreads);
    fence_mbarrier_init();
  }
  cluster.sync();
  uint4 v = in[blockIdx.x * kThreads + t];
  for (int round = 0; round < rounds; ++round) {
    const int s = round & 1, parity = round >> 1 & 1;
    if (t == 0) expect(&full[s], sizeof slots[s]);
    wait_mbarrier(&empty[s], parity ^ 1);
    v = step(v, rank);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(in_block(&slots[s][t], next)),
                 "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(in_block(&full[s], next)) : "memory");
    wait_mbarrier(&full[s], parity);
    v = slots[s][t];
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_block(&empty[s], before)) : "memory");
  }
  out[blockIdx.x * kThreads + t] = v;
  cluster.sync();
}

int main(int argc, char** argv) {
  Experiment e(argc, argv);
  const int rings = e.h200 ? 64 : 3;
  for (int rounds : {1, 2, 7, 8, e.h200 ? 4096 : 33}) {
    const size_t count = size_t(rings) * kRing * kThreads;
    const auto words = make_input(count * 4);
    std::vector<uint4> in(count), want(count);
    std::memcpy(in.data(), words.data(), count * sizeof(uint4));
    for (int r = 0; r < rings; ++r)
      for (int b = 0; b < kRing; ++b)
        for (int t = 0; t < kThreads; ++t) {
          uint4 v = in[(r * kRing + b) * kThreads + t];
          for (int k = 0; k < rounds; ++k) {
            const unsigned rank = (b + k) % kRing;
            v.x = v.x * 0x9E3779B1u + rank, v.y ^= rotate(v.x, 7), v.z += v.y, v.w = rotate(v.w, 3) ^ v.z;
          }
          want[(r * kRing + (b + rounds) % kRing) * kThreads + t] = v;
        }
    const DeviceArray<uint4> from(in);
    DeviceArray<uint4> to(count);
    const double ms = e.time([&] { ring<<<rings * kRing, kThreads>>>(from.get(), to.get(), rounds); });
    const auto got = to.copy();
    char name[64];
    std::snprintf(name, sizeof name, "%d rounds", rounds);
    e.report(name, got, !std::memcmp(got.data(), want.data(), count * sizeof(uint4)), ms);
  }
  return e.finish();
}
