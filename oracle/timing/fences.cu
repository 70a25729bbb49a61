// SPDX-License-Identifier: Apache-2.0
// What fences, releases and acquires take, of each kind and scope, with a store or a load before each and without.
// Prints a line for each launch: kind, what is before it (0: nothing, 1: a store, 2: a load), turns, CTAs, threads. See
// README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,smsp__inst_executed.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

enum Kind {
  kFenceBlock,
  kFenceCluster,
  kFenceDevice,
  kFenceSystem,
  kStrictBlock,
  kStrictCluster,
  kStrictDevice,
  kStrictSystem,
  kReleaseBlock,
  kReleaseCluster,
  kReleaseDevice,
  kReleaseSystem,
  kAcquireDevice,
  kAcquireSystem,
  kRelaxedLoad,
  kRelaxedStore,
  kAtomicRelaxed,
  kAtomicAcquire,
  kAtomicRelease,
  kAtomicBoth,
  kReduceRelease,
  kKinds
};
static const char* const names[] = {
    "fence_block",    "fence_cluster",  "fence_device",   "fence_system",    "strict_block",   "strict_cluster", "strict_device",
    "strict_system",  "release_block",  "release_cluster", "release_device", "release_system", "acquire_device", "acquire_system",
    "relaxed_load",   "relaxed_store",  "atomic_relaxed", "atomic_acquire",  "atomic_release", "atomic_both",    "reduce_release",
};

template <int K>
__device__ uint32_t act(uint32_t* p, uint32_t v) {
  uint32_t r = v;
#define FENCE(of, text) \
  if (K == of) asm volatile(text ";" ::: "memory")
  FENCE(kFenceBlock, "fence.acq_rel.cta");
  FENCE(kFenceCluster, "fence.acq_rel.cluster");
  FENCE(kFenceDevice, "fence.acq_rel.gpu");
  FENCE(kFenceSystem, "fence.acq_rel.sys");
  FENCE(kStrictBlock, "fence.sc.cta");
  FENCE(kStrictCluster, "fence.sc.cluster");
  FENCE(kStrictDevice, "fence.sc.gpu");
  FENCE(kStrictSystem, "fence.sc.sys");
#define STORE(of, text) \
  if (K == of) asm volatile(text " [%0], %1;" ::"l"(p), "r"(v) : "memory")
  STORE(kReleaseBlock, "st.release.cta.u32");
  STORE(kReleaseCluster, "st.release.cluster.u32");
  STORE(kReleaseDevice, "st.release.gpu.u32");
  STORE(kReleaseSystem, "st.release.sys.u32");
  STORE(kRelaxedStore, "st.relaxed.gpu.u32");
  STORE(kReduceRelease, "red.release.gpu.add.u32");
#define LOAD(of, text) \
  if (K == of) asm volatile(text " %0, [%1];" : "=r"(r) : "l"(p) : "memory")
  LOAD(kAcquireDevice, "ld.acquire.gpu.u32");
  LOAD(kAcquireSystem, "ld.acquire.sys.u32");
  LOAD(kRelaxedLoad, "ld.relaxed.gpu.u32");
#define ATOMIC(of, text) \
  if (K == of) asm volatile(text " %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(v) : "memory")
  ATOMIC(kAtomicRelaxed, "atom.relaxed.gpu.add.u32");
  ATOMIC(kAtomicAcquire, "atom.acquire.gpu.add.u32");
  ATOMIC(kAtomicRelease, "atom.release.gpu.add.u32");
  ATOMIC(kAtomicBoth, "atom.acq_rel.gpu.add.u32");
  return r;
}

// One lane of each warp, words of its own.
template <int K, int Before>
__global__ void turns_of(uint32_t* a, uint32_t* b, uint32_t* out, int turns) {
  const uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (threadIdx.x % 32) return;
  uint32_t *const p = a + warp * 64, *const q = b + warp * 64;
  uint32_t v = 1;
#pragma unroll 1
  for (int t = 0; t < turns; ++t) {
    if (Before == 1) asm volatile("st.global.u32 [%0], %1;" ::"l"(q), "r"(v) : "memory");
    if (Before == 2) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(q) : "memory");
    v = act<K>(p, v & 1);
  }
  if (v == 12345) *out = v;
}

template <int K, int Before>
static void launches(uint32_t* a, uint32_t* b, uint32_t* out) {
  constexpr int kTurns = 64;
  for (int ctas : {1, 132})
    for (int threads : {32, 256}) {
      turns_of<K, Before><<<ctas, threads>>>(a, b, out, kTurns);
      printf("%s %d %d %d %d\n", names[K], Before, kTurns, ctas, threads);
    }
}
template <int K>
static void all(uint32_t* a, uint32_t* b, uint32_t* out) {
  launches<K, 0>(a, b, out), launches<K, 1>(a, b, out), launches<K, 2>(a, b, out);
  if constexpr (K + 1 < kKinds) all<K + 1>(a, b, out);
}

int main() {
  uint32_t *a, *b, *out;
  CHECK(cudaMalloc(&a, 1 << 20));
  CHECK(cudaMalloc(&b, 1 << 20));
  CHECK(cudaMalloc(&out, 4));
  CHECK(cudaMemset(a, 0, 1 << 20));
  CHECK(cudaMemset(b, 0, 1 << 20));
  all<0>(a, b, out);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return 0;
}
