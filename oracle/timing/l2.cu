// SPDX-License-Identifier: Apache-2.0
// What L2 gives: rates of all multiprocessors and of one, reading and writing again and again (1 GiB: of DRAM), and
// how long one load takes. Prints a line for each: what, KiB that are touched, CTAs, the median.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#define CHECK(x)                                                                            \
  do {                                                                                      \
    cudaError_t e = (x);                                                                    \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1; \
  } while (0)

constexpr int kThreads = 512, kTimes = 8, kRuns = 7;

__device__ uint4 load(const uint4* p) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}

__global__ void read(const uint4* a, size_t n, long long* cycles, unsigned* out) {
  unsigned sum = 0;
  const long long from = clock64();
  for (int k = 0; k < kTimes; ++k) {
    size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x;
    const size_t step = size_t(gridDim.x) * kThreads;
    for (; i + 3 * step < n; i += 4 * step) {
      const uint4 v = load(a + i), w = load(a + i + step), x = load(a + i + 2 * step), y = load(a + i + 3 * step);
      sum += v.x ^ v.y ^ v.z ^ v.w ^ w.x ^ w.y ^ w.z ^ w.w ^ x.x ^ x.y ^ x.z ^ x.w ^ y.x ^ y.y ^ y.z ^ y.w;
    }
    for (; i < n; i += step) {
      const uint4 v = load(a + i);
      sum += v.x ^ v.y ^ v.z ^ v.w;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - from;
  if (sum == 0x9e3779b9u) *out = sum;
}

__global__ void write(uint4* a, size_t n, long long* cycles) {
  const long long from = clock64();
  for (int k = 0; k < kTimes; ++k)
    for (size_t i = size_t(blockIdx.x) * kThreads + threadIdx.x; i < n; i += size_t(gridDim.x) * kThreads)
      a[i] = make_uint4(k, k, k, k);
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - from;
}

// Each CTA goes from line to line, one after the other.
__global__ void chase(const uint32_t* next, int steps, long long* cycles, unsigned* out) {
  uint32_t at = blockIdx.x * 97;
  const long long from = clock64();
  for (int k = 0; k < steps; ++k) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(next + size_t(at) * 32));
  cycles[blockIdx.x] = clock64() - from;
  if (at == ~0u) *out = at;
}

int main() {
  constexpr size_t kMost = size_t{1} << 30;
  uint4* a;
  long long* cycles;
  unsigned* out;
  CHECK(cudaMalloc(&a, kMost));
  CHECK(cudaMalloc(&cycles, 4096 * sizeof(long long)));
  CHECK(cudaMalloc(&out, 4));
  CHECK(cudaMemset(a, 1, kMost));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<long long> host(4096);
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  const int sms = device.multiProcessorCount;
  for (const bool writes : {false, true})
    for (const int ctas : {1, sms, 4 * sms})
      for (const size_t kib : {128, 1024, 8192, 16384, 24576, 32768, 40960, 1048576}) {
        if (ctas == 1 && kib > 1024) continue;
        std::vector<double> rates, times;
        for (int run = 0; run < kRuns; ++run) {
          CHECK(cudaEventRecord(begin));
          if (writes)
            write<<<ctas, kThreads>>>(a, kib * 64, cycles);
          else
            read<<<ctas, kThreads>>>(a, kib * 64, cycles, out);
          CHECK(cudaEventRecord(end));
          CHECK(cudaEventSynchronize(end));
          CHECK(cudaMemcpy(host.data(), cycles, ctas * sizeof(long long), cudaMemcpyDeviceToHost));
          float ms;
          CHECK(cudaEventElapsedTime(&ms, begin, end));
          const double longest = *std::max_element(host.begin(), host.begin() + ctas);
          rates.push_back(kib * 1024.0 * kTimes / longest), times.push_back(ms * 1000);
        }
        std::sort(rates.begin(), rates.end()), std::sort(times.begin(), times.end());
        printf("%s KiB %zu CTAs %d: %.1f bytes/cycle, %.1f us\n", writes ? "write" : "read", kib, ctas, rates[kRuns / 2],
               times[kRuns / 2]);
      }
  for (const size_t mib : {1, 4, 16, 32}) {
    const uint32_t lines = static_cast<uint32_t>(mib << 13);
    std::vector<uint32_t> next(size_t{lines} * 32);
    for (uint32_t k = 0; k < lines; ++k) next[size_t{k} * 32] = static_cast<uint32_t>((k * uint64_t{2654435761u} + 12345) % lines);
    CHECK(cudaMemcpy(a, next.data(), next.size() * 4, cudaMemcpyHostToDevice));
    const int steps = 2048;
    for (int run = 0; run < 3; ++run) {
      read<<<4 * sms, kThreads>>>(a, mib << 16, cycles, out);
      chase<<<sms, 1>>>(reinterpret_cast<uint32_t*>(a), steps, cycles, out);
    }
    CHECK(cudaMemcpy(host.data(), cycles, sms * sizeof(long long), cudaMemcpyDeviceToHost));
    std::sort(host.begin(), host.begin() + sms);
    printf("chase MiB %zu CTAs %d: %.1f cycles, of all CTAs %.1f to %.1f\n", mib, sms, double(host[sms / 2]) / steps,
           double(host[0]) / steps, double(host[sms - 1]) / steps);
  }
  return 0;
}
