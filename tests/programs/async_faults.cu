// SPDX-License-Identifier: Apache-2.0
// Misuse of bulk and tensor copies and of a cluster's shared memory: the errors.
// Each case runs in a process of its own.
#include <cooperative_groups.h>
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"
namespace cg = cooperative_groups;

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// Block 1 has gone when block 0 reads its shared memory.
__global__ void __cluster_dims__(2, 1, 1) read_left(unsigned* out) {
  __shared__ unsigned cell;
  const auto cluster = cg::this_cluster();
  cell = 5 + cluster.block_rank();
  cluster.sync();
  if (cluster.block_rank() == 1) return;
  const long long start = clock64();
  while (clock64() - start < 10000000) {}
  *out = *cluster.map_shared_rank(&cell, 1);
}

__global__ void bulk(const char* in, int source, int destination, int bytes, int outside, int barrier) {
  __shared__ __align__(128) char tile[4096];
  __shared__ uint64_t bar;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&bar)));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&bar)), "r"(bytes) : "memory");
  const uint32_t to = outside ? 300000 : shared(tile) + destination;
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(in + source),
               "r"(bytes), "r"(shared(&bar) + barrier)
               : "memory");
  const long long start = clock64();
  while (clock64() - start < 1000000) {}
}

// Waits for a copy that never comes.
__global__ void wait_for_copy(const char* in, int small) {
  __shared__ __align__(128) char tile[4096];
  __shared__ uint64_t bar;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&bar)));
  if (small) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.mbarrier.arrive.noinc.shared::cta.b64 [%2];" ::"r"(shared(tile)), "l"(in),
                 "r"(shared(&bar))
                 : "memory");
  } else {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 64;" ::"r"(shared(&bar)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" ::"r"(shared(tile)), "l"(in),
                 "r"(shared(&bar))
                 : "memory");
  }
  asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}" ::"r"(shared(&bar)) : "memory");
}

__global__ void tensor(const __grid_constant__ CUtensorMap map, int c0, int c1, int destination, int store, int dimensions) {
  __shared__ __align__(128) char tile[4096];
  __shared__ uint64_t bar;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&bar)));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(shared(&bar)) : "memory");
  const uint32_t at = shared(tile) + destination;
  if (store)
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\ncp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group 0;" ::"l"(&map),
                 "r"(c0), "r"(c1), "r"(at)
                 : "memory");
  else if (dimensions == 2)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at),
                 "l"(&map), "r"(c0), "r"(c1), "r"(shared(&bar))
                 : "memory");
  else
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %3}], [%4];" ::"r"(at),
                 "l"(&map), "r"(c0), "r"(c1), "r"(shared(&bar))
                 : "memory");
  const long long start = clock64();
  while (clock64() - start < 1000000) {}
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                            const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
CUtensorMap map_of(void* memory, CUtensorMapSwizzle swizzle) {
  void* p = nullptr;
  cudaDriverEntryPointQueryResult found;
  MUST(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &p, 12000, cudaEnableDefault, &found));
  const cuuint64_t sizes[] = {40, 9}, strides[] = {256};
  const cuuint32_t box[] = {16, 8}, steps[] = {1, 1};
  CUtensorMap map;
  if (reinterpret_cast<Encode>(p)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, memory, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    std::printf("map not encoded\n");
  return map;
}

int main() {
  const char* names[] = {"shared memory of a block that has gone", "bulk: source at 4", "bulk: destination at 4", "bulk: 64 bytes",
                         "bulk: destination outside", "bulk: source is no memory", "bulk: mbarrier at 4", "bulk: no bytes",
                         "tensor: row at 4 bytes", "tensor: row at -16 bytes", "tensor: destination at 64", "tensor: destination at 64, swizzle",
                         "tensor: store at -1", "tensor: store behind the end", "tensor: 3 dimensions for 2",
                         "bulk: source is no memory, waited for", "cp.async: source is no memory, waited for"};
  for (int k = 0; k < int(std::size(names)); ++k) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      char* memory;
      MUST(cudaMalloc(&memory, 1 << 20));
      const auto cell = reinterpret_cast<unsigned*>(memory);
      switch (k) {
        case 0: read_left<<<2, 32>>>(cell); break;
        case 1: bulk<<<1, 1>>>(memory, 4, 0, 64, 0, 0); break;
        case 2: bulk<<<1, 1>>>(memory, 0, 4, 64, 0, 0); break;
        case 3: bulk<<<1, 1>>>(memory, 0, 0, 64, 0, 0); break;
        case 4: bulk<<<1, 1>>>(memory, 0, 0, 64, 1, 0); break;
        case 5: bulk<<<1, 1>>>(reinterpret_cast<char*>(16), 0, 0, 64, 0, 0); break;
        case 6: bulk<<<1, 1>>>(memory, 0, 0, 64, 0, 4); break;
        case 7: bulk<<<1, 1>>>(memory, 0, 0, 0, 0, 0); break;
        case 8: tensor<<<1, 1>>>(map_of(memory, CU_TENSOR_MAP_SWIZZLE_NONE), 1, 0, 0, 0, 2); break;
        case 9: tensor<<<1, 1>>>(map_of(memory, CU_TENSOR_MAP_SWIZZLE_NONE), -4, -3, 0, 0, 2); break;
        case 10: tensor<<<1, 1>>>(map_of(memory, CU_TENSOR_MAP_SWIZZLE_NONE), 0, 0, 64, 0, 2); break;
        case 11: tensor<<<1, 1>>>(map_of(memory, CU_TENSOR_MAP_SWIZZLE_64B), 0, 0, 64, 0, 2); break;
        case 12: tensor<<<1, 1>>>(map_of(memory, CU_TENSOR_MAP_SWIZZLE_NONE), 0, -1, 0, 1, 2); break;
        case 13: tensor<<<1, 1>>>(map_of(memory, CU_TENSOR_MAP_SWIZZLE_NONE), 32, 100, 0, 1, 2); break;
        case 14: tensor<<<1, 1>>>(map_of(memory, CU_TENSOR_MAP_SWIZZLE_NONE), 0, 0, 0, 0, 3); break;
        case 15: wait_for_copy<<<1, 1>>>(reinterpret_cast<char*>(16), 0); break;
        case 16: wait_for_copy<<<1, 1>>>(reinterpret_cast<char*>(16), 1); break;
      }
      const cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
      std::printf("%-42s %s, %s\n", names[k], cudaGetErrorName(launched), cudaGetErrorName(ran));
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status) std::printf("%-42s ended with %d\n", names[k], status);
  }
}
