// SPDX-License-Identifier: Apache-2.0
// arch: compute_90a
// tensormap.replace on memory that holds no tensor map: the fields are written, nothing is checked.
#include "program.h"

__global__ void shared_bytes(int* out, unsigned char fill) {
  __shared__ alignas(128) unsigned char map[128];
  for (int i = threadIdx.x; i < 128; i += blockDim.x) map[i] = fill;
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(map));
    asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 2;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, 16;" ::"r"(at) : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at), "r"(77) : "memory");
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at), "l"(4096ll) : "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) out[0] = 1;
  int changed = 0;
  for (int i = threadIdx.x; i < 128; i += blockDim.x) changed += map[i] != fill;
  if (__syncthreads_or(changed) && threadIdx.x == 0) out[1] = 1;
}
__global__ void global_bytes(unsigned char* map, int* out) {
  asm volatile("tensormap.replace.tile.rank.global.b1024.b32 [%0], 2;" ::"l"(map) : "memory");
  asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(4096ll) : "memory");
  out[0] = 1;
}

int main() {
  int* out;
  MUST(cudaMallocManaged(&out, 64));
  for (const int fill : {0, 0xff, 0x5a}) {
    out[0] = out[1] = 0;
    shared_bytes<<<1, 32>>>(out, static_cast<unsigned char>(fill));
    MUST(cudaDeviceSynchronize());
    std::printf("shared, of %02x: ran on %d, bytes changed %d\n", fill, out[0], out[1]);
  }
  unsigned char* map;
  MUST(cudaMalloc(&map, 4096));
  for (const int fill : {0, 0x5a}) {
    MUST(cudaMemset(map, fill, 4096));
    out[0] = 0;
    global_bytes<<<1, 1>>>(map, out);
    MUST(cudaDeviceSynchronize());
    unsigned char bytes[256];
    MUST(cudaMemcpy(bytes, map, 256, cudaMemcpyDeviceToHost));
    bool changed = false, beyond = false;
    for (int i = 0; i < 256; ++i) (i < 128 ? changed : beyond) |= bytes[i] != fill;
    std::printf("global, of %02x: ran on %d, bytes changed %d, bytes beyond %d\n", fill, out[0], changed, beyond);
  }
  return 0;
}
