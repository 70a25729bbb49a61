// SPDX-License-Identifier: Apache-2.0
// F5: y += a x over vectors {i, i, i, i} of float, in memory as usual and in compressible memory: a thread for each,
// a grid that strides over all, blocks that stride over a piece of their own. And over contents that do not compress.
#include <cuda.h>

#include "effects.h"

inline void must(CUresult e, const char* what) {
  if (e != CUDA_SUCCESS) std::printf("FAIL: %s: %d\n", what, int(e)), std::exit(1);
}

__device__ inline void one(float4& y, const float4& x) {
  float4 v = y;
  v.x += 2 * x.x, v.y += 2 * x.y, v.z += 2 * x.z, v.w += 2 * x.w;
  y = v;
}
__global__ void no_loop(float4* y, const float4* x, size_t n) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) one(y[i], x[i]);
}
__global__ void grid_stride(float4* y, const float4* x, size_t n) {
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) one(y[i], x[i]);
}
__global__ void block_stride(float4* y, const float4* x, size_t n) {
  const size_t piece = (n + gridDim.x - 1) / gridDim.x, end = min(n, (blockIdx.x + 1) * piece);
  for (size_t i = blockIdx.x * piece + threadIdx.x; i < end; i += blockDim.x) one(y[i], x[i]);
}
__device__ unsigned mixed(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}
__global__ void fill(float4* v, size_t n, bool random) {
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    const unsigned k = unsigned(i);
    const auto any = [&](unsigned m) { return float(mixed(4 * k + m)) * 2.3283064e-10f; };
    v[i] = random ? float4{any(0), any(1), any(2), any(3)} : float4{float(k), float(k), float(k), float(k)};
  }
}

float4* allocate(size_t bytes, bool compressible) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED, prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  if (compressible) prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  size_t unit = 0;
  MUST(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  bytes = (bytes + unit - 1) / unit * unit;
  CUmemGenericAllocationHandle h;
  CUdeviceptr at;
  MUST(cuMemCreate(&h, bytes, &prop, 0));
  CUmemAllocationProp is{};
  MUST(cuMemGetAllocationPropertiesFromHandle(&is, h));
  check(!compressible || is.allocFlags.compressionType == CU_MEM_ALLOCATION_COMP_GENERIC, "compressible memory was not given");
  MUST(cuMemAddressReserve(&at, bytes, 0, 0, 0)), MUST(cuMemMap(at, bytes, 0, h, 0));
  CUmemAccessDesc access{};
  access.location = prop.location, access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  MUST(cuMemSetAccess(at, bytes, &access, 1));
  return reinterpret_cast<float4*>(at);
}

// ROUNDS [MEBIBYTES OF EACH ARRAY]
int main(int argc, char** argv) {
  arguments(argc, argv);
  const size_t bytes = size_t(argc > 2 ? std::atoi(argv[2]) : 192) << 20, n = bytes / 16;
  MUST(cudaFree(nullptr));
  int able = 0;
  MUST(cuDeviceGetAttribute(&able, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, 0));
  check(able, "no compression");
  for (const bool compressible : {false, true}) {
    float4 *x = allocate(bytes, compressible), *y = allocate(bytes, compressible);
    for (const bool random : {false, true}) {
      fill<<<132 * 8, 256>>>(x, n, random), fill<<<132 * 8, 256>>>(y, n, random);
      float4 before, after, by;
      MUST(cudaMemcpy(&before, y + n / 3, 16, cudaMemcpyDeviceToHost)), MUST(cudaMemcpy(&by, x + n / 3, 16, cudaMemcpyDeviceToHost));
      const std::string as = std::string(compressible ? "compressible_" : "usual_") + (random ? "random_" : "equal_");
      tell(as + "no_loop", microseconds(nullptr, [&] { no_loop<<<unsigned((n + 255) / 256), 256>>>(y, x, n); }));
      tell(as + "grid_stride", microseconds(nullptr, [&] { grid_stride<<<132 * 8, 256>>>(y, x, n); }));
      tell(as + "block_stride", microseconds(nullptr, [&] { block_stride<<<132 * 8, 256>>>(y, x, n); }));
      MUST(cudaMemcpy(&after, y + n / 3, 16, cudaMemcpyDeviceToHost));
      float want = before.y;
      for (int k = 0; k < 3 * (rounds() + 1); ++k) want += 2 * by.y;
      check(std::abs(after.y - want) <= 1e-3f * std::abs(want), as);
    }
  }
  std::puts("ok");
}
