// SPDX-License-Identifier: Apache-2.0
// Requests for one line by several multiprocessors at a time: how many come to L2. `pair`: two CTAs of 132, the first
// and another one, read the same rows, the others rows of their own. `next`: CTAs that follow each other share rows;
// `apart`: so do CTAs that lie a part of the grid apart; `bulk`: as `next`, by bulk copies of 4 KiB. Rows come from
// DRAM. Prints a line for each launch: kind, the other CTA or how many share, bytes of a thread, flight, CTAs. See
// README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,smsp__inst_executed.sum
// metrics: lts__t_requests_srcunit_tex.sum,lts__t_sectors_op_read.sum,lts__t_sectors_srcunit_tex.sum
// metrics: lts__t_sectors_lookup_miss.sum
// metrics: l1tex__m_xbar2l1tex_read_sectors.sum,l1tex__m_l1tex2xbar_req_cycles_active.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kThreads = 256, kRows = 64;

__device__ uint32_t word(uint32_t v) { return v; }
__device__ uint32_t word(uint4 v) { return v.x ^ v.w; }


template <class T, int flight>
__device__ void read(const T* in, uint32_t* out, int part) {
  const T* const own = in + part * kRows * kThreads + threadIdx.x;
  uint32_t sum = 0;
#pragma unroll 1
  for (int r = 0; r < kRows; r += flight) {
    T v[flight];
#pragma unroll
    for (int f = 0; f < flight; ++f) v[f] = own[(r + f) * kThreads];
#pragma unroll
    for (int f = 0; f < flight; ++f) sum += word(v[f]);
  }
  if (sum == 12345) out[blockIdx.x] = sum;
}
template <class T, int flight>
__global__ void pair(const T* in, uint32_t* out, int other) {
  read<T, flight>(in, out, int(blockIdx.x) == other ? 0 : blockIdx.x);
}
template <class T, int flight>
__global__ void next(const T* in, uint32_t* out, int sharers) {
  read<T, flight>(in, out, blockIdx.x / sharers);
}
template <class T, int flight>
__global__ void apart(const T* in, uint32_t* out, int sharers) {
  read<T, flight>(in, out, blockIdx.x % (gridDim.x / sharers));
}

// The same rows, a copy of 4 KiB for each, `flight` under way.
template <class T, int flight>
__global__ void bulk(const T* in, uint32_t* out, int sharers) {
  constexpr uint32_t kBytes = kThreads * sizeof(T);
  __shared__ alignas(128) T ring[flight][kThreads];
  __shared__ alignas(8) uint64_t full[flight];
  const T* const own = in + (blockIdx.x / sharers) * kRows * kThreads;
  const auto address = [](const void* p) { return uint32_t(__cvta_generic_to_shared(p)); };
  const auto bring = [&](int r) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(&full[r % flight])), "r"(kBytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(ring[r % flight])),
                 "l"(own + r * kThreads), "r"(kBytes), "r"(address(&full[r % flight]))
                 : "memory");
  };
  if (threadIdx.x == 0) {
    for (int f = 0; f < flight; ++f) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&full[f])) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int f = 0; f < flight; ++f) bring(f);
  }
  __syncthreads();
  uint32_t sum = 0;
#pragma unroll 1
  for (int r = 0; r < kRows; ++r) {
    asm volatile("{\n\t.reg .pred p;\nagain_%=:\n\tmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n\t@!p bra again_%=;\n\t}" ::"r"(address(&full[r % flight])),
                 "r"(r / flight & 1)
                 : "memory");
    sum += word(ring[r % flight][threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0 && r + flight < kRows) bring(r + flight);
  }
  if (sum == 12345) out[blockIdx.x] = sum;
}

template <class T, int flight, class Kernel>
static void of(const char* kind, Kernel kernel, const void* in, uint32_t* out, int n, int ctas) {
  kernel<<<ctas, kThreads>>>(static_cast<const T*>(in), out, n);
  printf("%s %d %d %d %d\n", kind, n, int(sizeof(T)), flight, ctas);
}

template <class T, int flight>
static void all(const void* in, uint32_t* out) {
  for (int ctas : {132, 528})
    for (int sharers : {1, 2, 3, 4, 6, 11, 12, 22, 33, 66, 132}) {
      of<T, flight>("next", next<T, flight>, in, out, sharers, ctas);
      if (sharers > 1) of<T, flight>("apart", apart<T, flight>, in, out, sharers, ctas);
    }
}

int main() {
  void* in;
  uint32_t* out;
  CHECK(cudaMalloc(&in, size_t(528) * kRows * kThreads * 16));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMemset(in, 0, size_t(528) * kRows * kThreads * 16));
  of<uint4, 1>("next", next<uint4, 1>, in, out, 1, 132);
  for (int other = 1; other < 132; ++other) of<uint32_t, 1>("pair", pair<uint32_t, 1>, in, out, other, 132);
  all<uint32_t, 1>(in, out), all<uint32_t, 4>(in, out);
  all<uint4, 1>(in, out), all<uint4, 4>(in, out);
  for (int ctas : {132, 528})
    for (int sharers : {1, 2, 4, 12, 132}) {
      of<uint4, 2>("bulk", bulk<uint4, 2>, in, out, sharers, ctas);
      of<uint4, 8>("bulk", bulk<uint4, 8>, in, out, sharers, ctas);
    }
  CHECK(cudaDeviceSynchronize());
}
