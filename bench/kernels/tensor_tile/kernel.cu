// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <cuda/ptx>

#include "host_cuda.cuh"

namespace ptx = cuda::ptx;

__device__ void load_tile(float4* stage, const CUtensorMap& from, int tile, uint64_t* full) {
  const int at[2] = {(int(blockIdx.x) * kTiles + tile) * kTileColumns, int(blockIdx.y) * kTileRows};
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage, &from, at, full);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, kTileBytes);
}

__global__ void tensor_tile(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, float scale,
                            float bias) {
  __shared__ alignas(128) float4 stage[kStages][kTileBytes / sizeof(float4)];
  __shared__ uint64_t full[kStages];
  const int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < kStages; ++s) ptx::mbarrier_init(&full[s], 1);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  if (t == 0) load_tile(stage[0], in, 0, &full[0]);
  for (int k = 0; k < kTiles; ++k) {
    const int s = k % kStages, next = k + 1;
    if (t == 0 && next < kTiles) {
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());  // the store out of the stage that is filled next
      load_tile(stage[next % kStages], in, next, &full[next % kStages]);
    }
    while (!ptx::mbarrier_try_wait_parity(&full[s], k / kStages & 1)) {
    }
    for (int i = 0; i < kPerThread; ++i) {
      float4& v = stage[s][i * kBlock + t];
      v = make_float4(scale * v.x + bias, scale * v.y + bias, scale * v.z + bias, scale * v.w + bias);
    }
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (t == 0) {
      const int at[2] = {(int(blockIdx.x) * kTiles + k) * kTileColumns, int(blockIdx.y) * kTileRows};
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, stage[s]);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (t == 0) ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

static CUtensorMap tensor_map(void* matrix) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  ok(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found), "entry point");
  CUtensorMap map;
  const cuuint64_t size[2] = {kColumns, kRows}, stride[1] = {kColumns * sizeof(float)};
  const cuuint32_t box[2] = {kTileColumns, kTileRows}, step[2] = {1, 1};
  const CUresult status = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, matrix, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) std::exit(2);
  return map;
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  tensor_tile<<<grid, block>>>(tensor_map(a.buffer<float>(0)), tensor_map(a.buffer<float>(1)), a.scalar<float>(0),
                               a.scalar<float>(1));
}
