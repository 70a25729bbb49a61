// SPDX-License-Identifier: Apache-2.0
// Stores of single words anywhere in so many bytes, by one CTA to one on each multiprocessor. Prints a line for each
// launch: kind, bytes, CTAs, threads. See README.md.
// sass: STG.E
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct
// metrics: lts__t_requests_srcunit_tex.sum,lts__t_requests.sum,lts__t_tag_requests.sum,lts__t_sectors.sum
// metrics: lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,l1tex__m_xbar2l1tex_read_sectors.sum
// metrics: lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed
// metrics: lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed
// metrics: l1tex__m_l1tex2xbar_req_cycles_active.avg.pct_of_peak_sustained_elapsed
// metrics: dram__bytes_read.sum,dram__bytes_write.sum
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

// Words anywhere in `mask` + 1 words.
__global__ void anywhere(uint32_t* out, uint32_t mask, int turns) {
  uint32_t r = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 12345;
  for (int k = 0; k < turns; ++k) r = r * 1664525u + 1013904223u, out[(r >> 4) & mask] = k;
}

int main() {
  uint32_t* out;
  CHECK(cudaMalloc(&out, size_t(16) << 20));
  CHECK(cudaMemset(out, 0, size_t(16) << 20));
  for (int shift : {14, 18, 20, 22, 24})
    for (int ctas : {1, 20, 66, 132}) anywhere<<<ctas, 256>>>(out, (1u << (shift - 2)) - 1, 512), printf("anywhere %d %d 256\n", 1 << shift, ctas);
  CHECK(cudaDeviceSynchronize());
}
