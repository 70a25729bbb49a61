// SPDX-License-Identifier: Apache-2.0
// One exchange at four scopes: each thread writes a word for its successor, meets the others at a barrier and reads its
// predecessor's word.
//
//   block     cuda::barrier in shared memory
//   cluster   an mbarrier in the shared memory of CTA 0, at which the other CTAs arrive remotely; each waits for one of
//             its own
//   device    cuda::barrier in global memory, under a cooperative launch
//   system    cuda::barrier in managed memory, where a thread of the CPU takes part (in pinned memory behind PCIe the
//             atomics of the two sides would not be atomic to each other: cudaDevAttrHostNativeAtomicSupported)
#include <cooperative_groups.h>
#include <cuda/barrier>

#include <new>

#include "../experiment.h"
using namespace gallery;
namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init

__host__ __device__ Word step(Word v, int round) { return rotate(v, 5) * 0x9E3779B1u + round; }

// n words v[0..n): after each round, word k is made of word k - 1.
std::vector<Word> expected(int n, int rounds) {
  std::vector<Word> v = make_input(n), w(n);
  for (int r = 0; r < rounds; ++r, v.swap(w))
    for (int k = 0; k < n; ++k) w[k] = step(v[(k + n - 1) % n], r);
  return v;
}

__global__ void block_scope(const Word* in, Word* out, int rounds) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ Word words[2][1024];
  const int t = threadIdx.x, n = blockDim.x;
  if (t == 0) init(&bar, n);
  __syncthreads();
  Word v = in[t];
  for (int r = 0; r < rounds; ++r) {
    words[r & 1][(t + 1) % n] = v;
    bar.arrive_and_wait();
    v = step(words[r & 1][t], r);
  }
  out[t] = v;
}

constexpr int kBlocks = 4;

__device__ void arrive_at(uint64_t* bar, unsigned rank) {
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(shared_address(bar)), "r"(rank) : "memory");
}

// gather: all threads of the cluster arrive in CTA 0; go: from there one thread tells each CTA.
__global__ void __cluster_dims__(kBlocks, 1, 1) cluster_scope(const Word* in, Word* out, int rounds) {
  __shared__ uint64_t gather, go;
  __shared__ Word words[2][1024];
  const cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x, n = blockDim.x, k = cluster.thread_rank();
  if (t == 0) {
    init_mbarrier(&gather, n * kBlocks), init_mbarrier(&go, 1);
    fence_mbarrier_init();
  }
  cluster.sync();
  const int successor = (k + 1) % (n * kBlocks);
  Word v = in[k];
  for (int r = 0; r < rounds; ++r) {
    cluster.map_shared_rank(words[r & 1], successor / n)[successor % n] = v;
    arrive_at(&gather, 0);
    if (k == 0) {
      wait_mbarrier(&gather, r & 1);
      for (int b = 0; b < kBlocks; ++b) arrive_at(&go, b);
    }
    wait_mbarrier(&go, r & 1);
    v = step(words[r & 1][t], r);
  }
  out[k] = v;
  cluster.sync();
}

using DeviceBarrier = cuda::barrier<cuda::thread_scope_device>;
using SystemBarrier = cuda::barrier<cuda::thread_scope_system>;

__global__ void device_scope(DeviceBarrier* bar, const Word* in, Word* out, Word* words, int rounds) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  if (k == 0) init(bar, n);
  cg::this_grid().sync();
  Word v = in[k];
  for (int r = 0; r < rounds; ++r) {
    words[(r & 1) * n + (k + 1) % n] = v;
    bar->arrive_and_wait();
    v = step(words[(r & 1) * n + k], r);
  }
  out[k] = v;
}

// The last participant is the thread of the CPU.
__host__ __device__ Word take_part(SystemBarrier* bar, volatile Word* words, int k, int n, Word v, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    words[(r & 1) * n + (k + 1) % n] = v;
    bar->arrive_and_wait();
    v = step(words[(r & 1) * n + k], r);
  }
  return v;
}

__global__ void system_scope(SystemBarrier* bar, const Word* in, Word* out, Word* words, int rounds) {
  out[threadIdx.x] = take_part(bar, words, threadIdx.x, blockDim.x + 1, in[threadIdx.x], rounds);
}

int main(int argc, char** argv) {
  Experiment e(argc, argv);
  const int rounds = e.h200 ? 1000 : 9, threads = e.h200 ? 256 : 64;
  const auto run = [&](const char* name, int n, auto launch) {
    const DeviceArray<Word> from(make_input(n));
    DeviceArray<Word> to(n);
    const double ms = e.time([&] { launch(from.get(), to.get()); });
    const auto got = to.copy();
    e.report(name, got, got == expected(n, rounds), ms / rounds);
  };
  if (e.times) std::printf("times are of one round\n");
  run("block", threads, [&](const Word* in, Word* out) { block_scope<<<1, threads>>>(in, out, rounds); });
  run("cluster", threads * kBlocks, [&](const Word* in, Word* out) { cluster_scope<<<kBlocks, threads>>>(in, out, rounds); });
  const DeviceArray<DeviceBarrier> bar(1);
  const DeviceArray<Word> words(2 * threads * kBlocks);
  run("device", threads * kBlocks, [&](const Word* in, Word* out) {
    DeviceBarrier* b = bar.get();
    Word* w = words.get();
    int r = rounds;
    void* args[] = {&b, &in, &out, &w, &r};
    must(cudaLaunchCooperativeKernel(device_scope, kBlocks, threads, args), "cooperative launch");
  });
  const int some = 31, n = some + 1, few = e.h200 ? 50 : rounds;
  SystemBarrier* shared = nullptr;
  Word* exchange = nullptr;
  must(cudaMallocManaged(&shared, sizeof *shared), "managed memory");
  must(cudaMallocManaged(&exchange, 2 * n * sizeof(Word)), "managed memory");
  Word last = 0;
  const DeviceArray<Word> from(make_input(n));
  DeviceArray<Word> to(some);
  const double ms = e.time([&] {
    new (shared) SystemBarrier(n);
    system_scope<<<1, some>>>(shared, from.get(), to.get(), exchange, few);
    last = take_part(shared, exchange, some, n, make_input(n)[some], few);
  });
  auto got = to.copy();
  got.push_back(last);
  e.report("system", got, got == expected(n, few), ms / few);
  cudaFree(shared), cudaFree(exchange);
  return e.finish();
}
