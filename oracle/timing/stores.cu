// SPDX-License-Identifier: Apache-2.0
// Stores of 1 to 16 bytes a lane, so many bytes from lane to lane, to lines that stay in L2. What a warp stores next
// lies elsewhere, and comes to the same lines again when many others were stored. Prints a line for each launch: bytes
// of a lane, bytes from lane to lane, CTAs, threads. See README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,smsp__inst_executed.sum
// metrics: l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,l1tex__m_l1tex2xbar_req_cycles_active.sum
// metrics: lts__t_requests_op_write.sum,lts__t_sectors_op_write.sum,lts__xbar2lts_cycles_active.sum
// metrics: lts__t_tag_requests.sum,lts__d_sectors.sum
// caches: none
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kTurns = 512;

__device__ void put(uint8_t* p, int v) { asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(v)); }
__device__ void put(uint16_t* p, int v) { asm volatile("st.global.u16 [%0], %1;" ::"l"(p), "h"((short)v)); }
__device__ void put(int* p, int v) { asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v)); }
__device__ void put(int2* p, int v) { asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(p), "r"(v)); }
__device__ void put(int4* p, int v) { asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(v)); }

// A warp has `places` to which it comes one after the other.
template <class T>
__global__ void stores(char* a, int apart, int places) {
  const int lane = threadIdx.x % 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  char* const first = a + ((size_t)warp * places * 32 + lane) * apart;
#pragma unroll 1
  for (int k = 0; k < kTurns; k += 4)
#pragma unroll
    for (int n = 0; n < 4; ++n) put(reinterpret_cast<T*>(first + (size_t)((k + n) & places - 1) * 32 * apart), k);
}

template <class T>
void all(char* a, int apart) {
  const int lines = (apart * 32 + 127) / 128, places = lines >= 32 ? 4 : 128 / lines;
  const int shapes[][2] = {{1, 32}, {1, 256}, {16, 256}, {66, 256}, {132, 256}, {132, 1024}};
  for (const auto& s : shapes) {
    stores<T><<<s[0], s[1]>>>(a, apart, places);
    printf("stores %d %d %d %d\n", (int)sizeof(T), apart, s[0], s[1]);
  }
}

int main() {
  char* a;
  CHECK(cudaMalloc(&a, size_t(128) << 20));
  CHECK(cudaMemset(a, 0, size_t(128) << 20));
  for (int apart : {1, 4, 16, 32, 128}) all<uint8_t>(a, apart);
  for (int apart : {2, 4, 16, 32, 128}) all<uint16_t>(a, apart);
  for (int apart : {4, 8, 16, 32, 64, 128}) all<int>(a, apart);
  for (int apart : {8, 16, 32, 64, 128}) all<int2>(a, apart);
  for (int apart : {16, 32, 64, 128}) all<int4>(a, apart);
  CHECK(cudaDeviceSynchronize());
}
