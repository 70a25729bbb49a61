// SPDX-License-Identifier: Apache-2.0
// What the twins share: host helpers and PTX instructions. The instructions are macros, so that their line is the line
// of the program that uses them.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace twin {

inline void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  std::exit(2);
}

// n elements of device memory with f(0), f(1), ...
template <typename T, typename F>
T* device(int n, F f) {
  std::vector<T> host(n);
  for (int i = 0; i < n; ++i) host[i] = f(i);
  T* p = nullptr;
  must(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc");
  must(cudaMemcpy(p, host.data(), n * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // for streams that do not wait for the default one
  return p;
}
inline int* zeros(int n) {
  return device<int>(n, [](int) { return 0; });
}
inline int* iota(int n) {
  return device<int>(n, [](int i) { return i; });
}

// The end of a fake: all work is done without an error and data[i] == want(i).
template <typename T, typename F>
int judge(const T* data, int n, F want) {
  must(cudaGetLastError(), "launch");
  must(cudaDeviceSynchronize(), "execution");
  std::vector<T> host(n);
  must(cudaMemcpy(host.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (int i = 0; i < n; ++i) {
    if (host[i] == static_cast<T>(want(i))) continue;
    std::printf("wrong at %d: %g, not %g\n", i, double(host[i]), double(want(i)));
    return 1;
  }
  std::puts("ok");
  return 0;
}
inline int verdict(bool ok) {
  std::puts(ok ? "ok" : "wrong");
  return ok ? 0 : 1;
}

// The end of a hit: its results are undefined; only how it ended is told.
inline int ended() {
  const cudaError_t launch = cudaGetLastError(), execution = cudaDeviceSynchronize();
  std::printf("ended: %s\n", cudaGetErrorName(launch != cudaSuccess ? launch : execution));
  return 0;
}

}  // namespace twin
using namespace twin;

#define SMEM(p) static_cast<uint32_t>(__cvta_generic_to_shared(p))

// A variable that the compiler must not leave out.
#define KEEP(p) asm volatile("" ::"r"(SMEM(p)) : "memory")

// Copies of a thread, in groups.
#define CP_ASYNC(dst, src, bytes) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(SMEM(dst)), "l"(src), "n"(bytes) : "memory")
#define CP_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define CP_WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define CP_WAIT_ALL() asm volatile("cp.async.wait_all;" ::: "memory")

// mbarriers. A token is what an arrival returns.
#define MBAR_INIT(bar, n) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SMEM(bar)), "r"(n) : "memory")
#define MBAR_INVAL(bar) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(SMEM(bar)) : "memory")
#define MBAR_ARRIVE(bar) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SMEM(bar)) : "memory")
#define MBAR_ARRIVE_N(bar, n) \
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(SMEM(bar)), "r"(n) : "memory")
#define MBAR_TOKEN(token, bar) \
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(SMEM(bar)) : "memory")
#define MBAR_EXPECT(bar, bytes) \
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(SMEM(bar)), "r"(bytes) : "memory")
#define MBAR_ARRIVE_EXPECT(bar, bytes) \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SMEM(bar)), "r"(bytes) : "memory")
#define MBAR_TEST(done, bar, parity)                                                                          \
  asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}" \
               : "=r"(done)                                                                                   \
               : "r"(SMEM(bar)), "r"(parity)                                                                  \
               : "memory")
#define MBAR_TEST_TOKEN(done, bar, token)                                                              \
  asm volatile("{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}" \
               : "=r"(done)                                                                            \
               : "r"(SMEM(bar)), "l"(token)                                                            \
               : "memory")
#define MBAR_WAIT(bar, parity)                                                                                    \
  asm volatile(                                                                                                   \
      "{.reg .pred p; L%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra L%=;}" ::"r"(SMEM(bar)), \
      "r"(parity)                                                                                                 \
      : "memory")
#define MBAR_WAIT_CLUSTER(bar, parity)                                                                                 \
  asm volatile(                                                                                                        \
      "{.reg .pred p; L%=: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra L%=;}" ::"r"( \
          SMEM(bar)),                                                                                                  \
      "r"(parity)                                                                                                      \
      : "memory")
#define FENCE_MBAR_INIT() asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory")

// Bulk copies.
#define BULK_LOAD(dst, src, bytes, bar)                                                                           \
  asm volatile(                                                                                                   \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(SMEM(dst)), \
      "l"(src), "r"(bytes), "r"(SMEM(bar))                                                                        \
      : "memory")
#define BULK_MULTICAST(dst, src, bytes, bar, blocks)                                                                \
  asm volatile(                                                                                                     \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], " \
      "%4;" ::"r"(SMEM(dst)),                                                                                       \
      "l"(src), "r"(bytes), "r"(SMEM(bar)), "h"(uint16_t(blocks))                                                   \
      : "memory")
#define BULK_STORE(dst, src, bytes)                                                                                 \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(SMEM(src)), "r"(bytes) \
               : "memory")
#define BULK_COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT(n) asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory")
#define BULK_WAIT_READ(n) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory")
#define FENCE_ASYNC() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

// Clusters. REMOTE is the address of the same variable in another block.
#define CLUSTER_ARRIVE() asm volatile("barrier.cluster.arrive.aligned;" ::: "memory")
#define CLUSTER_ARRIVE_RELAXED() asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define CLUSTER_WAIT() asm volatile("barrier.cluster.wait.aligned;" ::: "memory")
#define REMOTE(address, pointer, rank) \
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(SMEM(pointer)), "r"(rank))
#define REMOTE_STORE(address, value) \
  asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory")
#define REMOTE_LOAD(value, address) \
  asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory")

// Accesses and fences by name: LOAD(x, "acquire.gpu", p), STORE("relaxed.sys", p, v), FENCE("acq_rel.cta").
#define LOAD(value, how, p) asm volatile("ld." how ".b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory")
#define STORE(how, p, value) asm volatile("st." how ".b32 [%0], %1;" ::"l"(p), "r"(value) : "memory")
#define FENCE(how) asm volatile("fence." how ";" ::: "memory")

// Barriers of a block, of a part of it, and of a warp.
#define BAR_SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory")
#define BAR_ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory")
#define WARP_SYNC(mask) asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory")
