// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// ours only: a real device does not tell how its contents compress
// Compressible memory, filled by kernels, and how it would compress.
#include "cu.h"

#include "../../include/understudy.h"

__global__ void fill(float4* p, int n, int kind) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = kind == 0 ? 0.0f : float(i + 8);
  unsigned h = unsigned(i) * 2654435761u;
  h ^= h >> 13;
  p[i] = kind < 2 ? make_float4(v, v, v, v)
                  : make_float4(__uint_as_float(h), __uint_as_float(h * 3), __uint_as_float(h * 747796405u), __uint_as_float(~h * 69069u));
}

int main() {
  MUST(cudaFree(nullptr));
  const understudyFunctions* u = understudyGetFunctions();
  if (!u) return std::printf("a real device\n"), 1;
  const size_t unit = 2u << 20;
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  CUmemGenericAllocationHandle h;
  CUdeviceptr at;
  CU(cuMemAddressReserve(&at, 2 * unit, 0, 0, 0));
  CU(cuMemCreate(&h, unit, &prop, 0));
  CU(cuMemMap(at, unit, 0, h, 0));
  understudyCompression c = {};
  VALUE(u->measureCompression(at, unit, &c));  // not readable yet
  CUmemAccessDesc access = {};
  access.location = prop.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CU(cuMemSetAccess(at, unit, &access, 1));
  const int n = int(unit / sizeof(float4));
  bool right = true;
  for (int kind = 0; kind < 3; ++kind) {
    fill<<<n / 256, 256>>>(reinterpret_cast<float4*>(at), n, kind);
    MUST(cudaDeviceSynchronize());
    VALUE(u->measureCompression(at, unit, &c));
    std::printf("kind %d: %llu lines, %llu at 1x, %llu at 2x, %llu at 4x, compressible %d\n", kind, c.lines, c.lines_1x, c.lines_2x,
                c.lines_4x, c.compressible);
    right = right && c.lines == unit / 128 && (kind < 2 ? c.lines_4x : c.lines_1x) == c.lines && c.compressible == 1;
  }
  float4* plain;
  MUST(cudaMalloc(&plain, 1280));
  fill<<<1, 256>>>(plain, 80, 1);
  MUST(cudaDeviceSynchronize());
  right = right && u->measureCompression(reinterpret_cast<CUdeviceptr>(plain), 1280, &c) == 0 && c.lines == 10 && c.compressible == 0;
  right = right && u->measureCompression(at, 2 * unit, &c) == 1 && u->measureCompression(at, unit, nullptr) == 1;
  right = right && u->measureCompression(reinterpret_cast<CUdeviceptr>(&c), 128, &c) == 1;
  std::printf("%s\n", right ? "PASS" : "FAIL");
  return !right;
}
