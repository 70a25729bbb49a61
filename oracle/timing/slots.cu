// SPDX-License-Identifier: Apache-2.0
// Where the warps of a CTA go: %warpid of each, of which the lowest two bits are the sub-partition. Prints a line for
// each size of CTAs: threads, CTAs of a multiprocessor at a time, and for the CTAs of one multiprocessor, in the order
// in which they began, the sub-partition of the first warp and how many of the others follow in the next one.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

struct Begun {
  long long at;
  uint32_t sm, id;
};

__global__ void work(Begun* out) {
  uint32_t sm, id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(id));
  const long long at = clock64();
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {at, sm, id};
  __syncthreads();
  while (clock64() < at + 20000) {
  }
}

int line(int threads) {
  int resident = 0, sms = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, work, threads, 0));
  const int ctas = sms * resident, warps = threads / 32;
  std::vector<Begun> all(ctas * warps);
  Begun* out;
  CHECK(cudaMalloc(&out, all.size() * sizeof(Begun)));
  work<<<ctas, threads>>>(out);
  CHECK(cudaMemcpy(all.data(), out, all.size() * sizeof(Begun), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(out));
  std::vector<const Begun*> here;
  for (int c = 0; c < ctas; ++c)
    if (all[c * warps].sm == 0) here.push_back(&all[c * warps]);
  std::sort(here.begin(), here.end(), [](const Begun* a, const Begun* b) { return a->at < b->at; });
  printf("%d %d |", threads, resident);
  for (size_t c = 0; c < here.size() && c < 12; ++c) {
    int follow = 0;
    for (int w = 1; w < warps; ++w) follow += here[c][w].id % 4 == (here[c][w - 1].id + 1) % 4;
    printf(" %u+%d", here[c][0].id % 4, follow);
  }
  printf("\n");
  return 0;
}

int main() {
  for (int threads = 32; threads <= 1024; threads += threads < 256 ? 32 : 128)
    if (line(threads)) return 1;
  return 0;
}
