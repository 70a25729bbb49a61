// SPDX-License-Identifier: Apache-2.0
// F9: chains of loads, and as many loads as a CTA can have under way, from shared memory, from that of another CTA of
// the cluster, and from global memory (all in L2).
#include <cooperative_groups.h>

#include "effects.h"
namespace cg = cooperative_groups;

constexpr int kWords = 2048, kSteps = 4096, kTurns = 256;
enum class Where { Local, Remote, Global };

template <Where kWhere>
__global__ void __cluster_dims__(4, 1, 1) chase(const unsigned* global, unsigned* out) {
  __shared__ unsigned words[kWords];
  const auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = global[i];
  cluster.sync();
  const unsigned* from = words;
  if (kWhere == Where::Remote) from = cluster.map_shared_rank(words, (cluster.block_rank() + 1) % 4);
  unsigned at = threadIdx.x;
  for (int k = 0; k < kSteps; ++k) {
    if (kWhere == Where::Global)
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(at) : "l"(global + at));
    else if (kWhere == Where::Local)
      at = words[at];
    else
      at = from[at];
  }
  cluster.sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

template <Where kWhere>
__global__ void __cluster_dims__(4, 1, 1) stream(const uint4* global, unsigned* out) {
  __shared__ uint4 words[kWords];
  const auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = global[i];
  cluster.sync();
  const uint4* from = words;
  if (kWhere == Where::Remote) from = cluster.map_shared_rank(words, (cluster.block_rank() + 1) % 4);
  unsigned sum = 0;
  for (int k = 0; k < kTurns; ++k) {
#pragma unroll
    for (int j = 0; j < kWords / 512; ++j) {
      const int i = ((j * 512 + threadIdx.x) + k * 32) % kWords;
      uint4 v;
      if (kWhere == Where::Global)
        asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(global + i));
      else
        v = from[i];
      sum += v.x ^ v.y ^ v.z ^ v.w;
    }
  }
  cluster.sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main(int argc, char** argv) {
  arguments(argc, argv);
  std::vector<unsigned> in(kWords * 4);
  for (int i = 0; i < kWords * 4; ++i) in[i] = unsigned(i < kWords ? (i * 5 + 17) % kWords : i);
  unsigned *from, *to;
  MUST(cudaMalloc(&from, in.size() * 4)), MUST(cudaMalloc(&to, 128 * 512 * 4));
  MUST(cudaMemcpy(from, in.data(), in.size() * 4, cudaMemcpyHostToDevice));
  const auto chain = [&](const char* name, auto kernel) {
    tell(name, microseconds(nullptr, [&] { kernel<<<128, 32>>>(from, to); }));
    std::vector<unsigned> got(128 * 32);
    MUST(cudaMemcpy(got.data(), to, got.size() * 4, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 32; ++t) {
      unsigned at = t;
      for (int k = 0; k < kSteps; ++k) at = in[at];
      check(got[t] == at && got[127 * 32 + t] == at, name);
    }
  };
  const auto wide = [&](const char* name, auto kernel) {
    tell(name, microseconds(nullptr, [&] { kernel<<<128, 512>>>((const uint4*)from, to); }));
    std::vector<unsigned> got(128 * 512);
    MUST(cudaMemcpy(got.data(), to, got.size() * 4, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 512; t += 37) {
      unsigned sum = 0;
      for (int k = 0; k < kTurns; ++k)
        for (int j = 0; j < kWords / 512; ++j) {
          const unsigned* v = &in[((j * 512 + t) + k * 32) % kWords * 4];
          sum += v[0] ^ v[1] ^ v[2] ^ v[3];
        }
      check(got[t] == sum && got[127 * 512 + t] == sum, name);
    }
  };
  chain("chase_local", chase<Where::Local>);
  chain("chase_remote", chase<Where::Remote>);
  chain("chase_global", chase<Where::Global>);
  wide("stream_local", stream<Where::Local>);
  wide("stream_remote", stream<Where::Remote>);
  wide("stream_global", stream<Where::Global>);
  std::puts("ok");
}
