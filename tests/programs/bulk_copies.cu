// SPDX-License-Identifier: Apache-2.0
// Bulk copies between global memory, shared memory and the shared memory of a cluster: completion at mbarriers and by
// groups, multicast, reductions of every type, st.async and red.async.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "program.h"
using namespace program;
namespace cg = cooperative_groups;

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ uint32_t peer(uint32_t address, uint32_t rank) {
  uint32_t r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank));
  return r;
}
__device__ void init(uint64_t* bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(bar)), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void arrive_expect(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(bar)), "r"(bytes) : "memory");
}
__device__ void wait(uint64_t* bar, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}" ::"r"(shared(bar)),
      "r"(parity)
      : "memory");
}

// Every block: a tile comes in, is changed, goes out.
__global__ void there_and_back(const uint32_t* in, uint32_t* out, int words) {
  extern __shared__ __align__(128) uint32_t tile[];
  __shared__ uint64_t bar;
  const uint32_t bytes = words * 4;
  if (threadIdx.x == 0) init(&bar, 1);
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    const uint32_t* from = in + (blockIdx.x * 3 + round) * words;
    if (threadIdx.x == 0) {
      arrive_expect(&bar, bytes);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared(tile)),
                   "l"(from), "r"(bytes), "r"(shared(&bar))
                   : "memory");
    }
    wait(&bar, round & 1);
    for (int k = threadIdx.x; k < words; k += blockDim.x) tile[k] = tile[k] * 5 + round;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + (blockIdx.x * 3 + round) * words),
                   "r"(shared(tile)), "r"(bytes)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Each block of the cluster loads a slice and sends it to the blocks of a mask;
// then passes its own on to its neighbour.
__global__ void __cluster_dims__(4, 1, 1) multicast(const uint32_t* in, uint32_t* out) {
  constexpr int slice = 64;
  __shared__ __align__(128) uint32_t all[4 * slice], mine[slice], passed[slice];
  __shared__ uint64_t bar, second;
  const auto cluster = cg::this_cluster();
  const uint32_t rank = cluster.block_rank();
  for (int k = threadIdx.x; k < 4 * slice; k += blockDim.x) all[k] = 7;
  if (threadIdx.x < slice) mine[threadIdx.x] = rank * 1000 + threadIdx.x;
  if (threadIdx.x == 0) {
    init(&bar, 1);
    init(&second, 1);
    // Slice s goes to all blocks but block s + 1.
    arrive_expect(&bar, 3 * slice * 4);
    arrive_expect(&second, slice * 4);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  cluster.sync();
  if (threadIdx.x == 0) {
    const uint16_t mask = 0xf & ~(1 << (rank + 1) % 4);
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
            shared(all + rank * slice)),
        "l"(in + (blockIdx.x / 4 * 4 + rank) * slice), "r"(slice * 4), "r"(shared(&bar)), "h"(mask)
        : "memory");
    const uint32_t to = (rank + 1) % 4;
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     peer(shared(passed), to)),
                 "r"(shared(mine)), "r"(slice * 4), "r"(peer(shared(&second), to))
                 : "memory");
  }
  wait(&bar, 0);
  wait(&second, 0);
  uint32_t* to = out + blockIdx.x * 5 * slice;
  for (int k = threadIdx.x; k < 4 * slice; k += blockDim.x) to[k] = all[k];
  if (threadIdx.x < slice) to[4 * slice + threadIdx.x] = passed[threadIdx.x];
  cluster.sync();
}

constexpr int kBytes = 512;
#define REDUCE(name, op, type, suffix)                                                                                        \
  __global__ void name(void* cells, const uint32_t* in) {                                                                     \
    __shared__ __align__(128) uint32_t mine[kBytes / 4];                                                                      \
    for (int k = threadIdx.x; k < kBytes / 4; k += blockDim.x) mine[k] = in[k];                                               \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                                              \
    __syncthreads();                                                                                                          \
    if (threadIdx.x == 0) {                                                                                                   \
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." op suffix "." type " [%0], [%1], %2;" ::"l"(cells), \
                   "r"(shared(mine)), "r"(kBytes)                                                                             \
                   : "memory");                                                                                               \
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");                                  \
    }                                                                                                                         \
  }
REDUCE(add_u32, "add", "u32", "")
REDUCE(add_s32, "add", "s32", "")
REDUCE(add_u64, "add", "u64", "")
REDUCE(add_f16, "add", "f16", ".noftz")
REDUCE(add_bf16, "add", "bf16", ".noftz")
REDUCE(add_f32, "add", "f32", "")
REDUCE(add_f64, "add", "f64", "")
REDUCE(min_u32, "min", "u32", "")
REDUCE(max_u32, "max", "u32", "")
REDUCE(min_s32, "min", "s32", "")
REDUCE(max_s32, "max", "s32", "")
REDUCE(min_u64, "min", "u64", "")
REDUCE(max_u64, "max", "u64", "")
REDUCE(min_s64, "min", "s64", "")
REDUCE(max_s64, "max", "s64", "")
REDUCE(min_f16, "min", "f16", "")
REDUCE(max_f16, "max", "f16", "")
REDUCE(min_bf16, "min", "bf16", "")
REDUCE(max_bf16, "max", "bf16", "")
REDUCE(inc_u32, "inc", "u32", "")
REDUCE(dec_u32, "dec", "u32", "")
REDUCE(and_b32, "and", "b32", "")
REDUCE(or_b32, "or", "b32", "")
REDUCE(xor_b32, "xor", "b32", "")
REDUCE(and_b64, "and", "b64", "")
REDUCE(or_b64, "or", "b64", "")
REDUCE(xor_b64, "xor", "b64", "")

// Neighbours send words to each other and add to each other's cells.
__global__ void __cluster_dims__(2, 1, 1) stores(uint32_t* out) {
  __shared__ __align__(16) uint32_t cells[32 * 4], sums[8];
  __shared__ uint64_t bar, counted;
  const auto cluster = cg::this_cluster();
  const uint32_t rank = cluster.block_rank(), t = threadIdx.x, other = rank ^ 1;
  cells[t * 4] = cells[t * 4 + 1] = cells[t * 4 + 2] = cells[t * 4 + 3] = 1;
  if (t < 8) sums[t] = 100 + t;
  if (t == 0) {
    init(&bar, 1);
    init(&counted, 1);
    arrive_expect(&bar, 16 * 16 + 8 * 8 + 8 * 4);
    arrive_expect(&counted, 32 * 4 + 32 * 4 + 32 * 4);
  }
  cluster.sync();
  const uint32_t to = peer(shared(cells + t * 4), other), at = peer(shared(&bar), other), count = peer(shared(&counted), other);
  const uint32_t v = rank * 77 + t;
  if (t < 16)
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "r"(v),
                 "r"(v + 1), "r"(v + 2), "r"(v + 3), "r"(at)
                 : "memory");
  else if (t < 24)
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to), "l"(uint64_t(v) << 33), "r"(at)
                 : "memory");
  else
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(v * 3), "r"(at) : "memory");
  const uint32_t sum = peer(shared(sums + t % 4), other), top = peer(shared(sums + 4), other), bits = peer(shared(sums + 5), other);
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(sum), "r"(v), "r"(count) : "memory");
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.max.s32 [%0], %1, [%2];" ::"r"(top), "r"(int(v) - 50), "r"(count) : "memory");
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.xor.b32 [%0], %1, [%2];" ::"r"(bits), "r"(1u << t), "r"(count) : "memory");
  wait(&bar, 0);
  wait(&counted, 0);
  uint32_t* mine = out + blockIdx.x * 136;
  for (int k = 0; k < 4; ++k) mine[t * 4 + k] = cells[t * 4 + k];
  if (t < 8) mine[128 + t] = sums[t];
  cluster.sync();
}

int main() {
  constexpr int blocks = 5, words = 512;
  std::vector<uint32_t> host(blocks * 3 * words);
  for (size_t k = 0; k < host.size(); ++k) host[k] = mix(uint32_t(k));
  Device<uint32_t> in(host), out(blocks * 3 * words);
  there_and_back<<<blocks, 96, words * 4>>>(in, out, words);
  show("there and back", out.copy());
  Device<uint32_t> spread(8 * 5 * 64);
  multicast<<<8, 64>>>(in, spread);
  show("multicast", spread.copy());
  std::vector<uint32_t> values(kBytes / 4);
  auto reduce = [&](const char* name, void (*kernel)(void*, const uint32_t*), int kind) {
    for (int k = 0; k < kBytes / 4; ++k) {
      const uint32_t a = mix(k), b = mix(k + 9999);
      if (kind == 0) values[k] = a, host[k] = b;
      if (kind == 1) values[k] = a & 0xbfffbfffu, host[k] = k % 3 ? b & 0xbfffbfffu : a ^ 0x80008000u;  // f16, bf16
      if (kind == 2) {                                                                                   // f32
        const int e = k % 11 == 0 ? 0 : 100 + k % 50;
        values[k] = (a & 0x807fffffu) | e << 23, host[k] = (b & 0x807fffffu) | (k % 11 == 1 ? 0 : 100 + k % 47) << 23;
      }
      if (kind == 3) values[k] = k % 2 ? (a & 0x800fffffu) | (900 + k) << 20 : a, host[k] = k % 2 ? (b & 0x800fffffu) | (905 + k % 90) << 20 : b;
      if (kind == 4) values[k] = a % 8, host[k] = b % 8;
    }
    Device<uint32_t> source(std::vector<uint32_t>(host.begin(), host.begin() + kBytes / 4)), cells(values);
    kernel<<<1, 32>>>(cells, source);
    show(name, cells.copy());
  };
#define RUN(name, kind) reduce(#name, name, kind)
  RUN(add_u32, 0); RUN(add_s32, 0); RUN(add_u64, 0); RUN(add_f16, 1); RUN(add_bf16, 1); RUN(add_f32, 2); RUN(add_f64, 3);
  RUN(min_u32, 0); RUN(max_u32, 0); RUN(min_s32, 0); RUN(max_s32, 0); RUN(min_u64, 0); RUN(max_u64, 0); RUN(min_s64, 0); RUN(max_s64, 0);
  RUN(min_f16, 1); RUN(max_f16, 1); RUN(min_bf16, 1); RUN(max_bf16, 1); RUN(inc_u32, 4); RUN(dec_u32, 4);
  RUN(and_b32, 0); RUN(or_b32, 0); RUN(xor_b32, 0); RUN(and_b64, 0); RUN(or_b64, 0); RUN(xor_b64, 0);
  Device<uint32_t> sent(4 * 136);
  stores<<<4, 32>>>(sent);
  show("st.async, red.async", sent.copy());
  return finish();
}
