// SPDX-License-Identifier: Apache-2.0
// What fences take beside a kernel that writes, to memory of the host or to DRAM. A launch of fences begins about
// 100 us after a launch of writes, in another stream. Each row is the median of 5 pairs of launches:
//   SCOPE WHERE DOMAIN WRITERS CTAS THREADS STORES FENCES | ALL FIRST AFTER WROTE
// DOMAIN is that of the writes, WRITERS their CTAs (of 256 threads), STORES: one of each thread before each fence. ALL
// is what the fences took, FIRST those of CTA 0, AFTER how long behind their begin the writes ended, WROTE what these
// took, in ns of %globaltimer.
// nvcc -arch=sm_90a -O3 -o beside beside.cu && ./beside
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Time = unsigned long long;

constexpr int kRuns = 5, kMostCtas = 132;
constexpr size_t kFar = 64 << 20, kNear = size_t{8} << 30;

enum Scope { kCta, kGpu, kSys };
enum class Where { Nothing, Host, Device };

void must(cudaError_t e) {
  if (e != cudaSuccess) std::printf("failed: %s\n", cudaGetErrorString(e)), std::exit(1);
}

__device__ Time now() {
  Time t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

__device__ void took(Time* times, Time begin) {
  const Time end = now();
  if (threadIdx.x == 0) times[2 * blockIdx.x] = begin, times[2 * blockIdx.x + 1] = end;
}

template <Scope scope, bool stores>
__global__ void fences(volatile unsigned* own, Time* times, int n) {
  const Time begin = now();
  for (int k = 1; k <= n; ++k) {
    if (stores) own[blockIdx.x * blockDim.x + threadIdx.x] = k;
    if (scope == kCta) __threadfence_block();
    if (scope == kGpu) __threadfence();
    if (scope == kSys) __threadfence_system();
  }
  took(times, begin);
}

__global__ void writes(uint4* to, size_t n, unsigned v, Time* times) {
  const Time begin = now();
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += size_t{gridDim.x} * blockDim.x) to[i] = {v, v, v, v};
  took(times, begin);
}

__global__ void delay(Time ns) {
  const Time begin = now();
  while (now() - begin < ns) {
  }
}

struct Interval {
  Time begin = ~Time{0}, end = 0, first = 0;
};

Interval read(const Time* device, int ctas) {
  std::vector<Time> t(2 * ctas);
  must(cudaMemcpy(t.data(), device, t.size() * sizeof(Time), cudaMemcpyDeviceToHost));
  Interval i;
  for (int c = 0; c < ctas; ++c) i.begin = std::min(i.begin, t[2 * c]), i.end = std::max(i.end, t[2 * c + 1]);
  i.first = t[1] - t[0];
  return i;
}

double median(double (&all)[kRuns]) {
  std::sort(all, all + kRuns);
  return all[kRuns / 2];
}

struct Pair {
  Where where;
  cudaLaunchMemSyncDomain domain;
  int writers, ctas, threads, fences;
};

class Bench {
 public:
  Bench() {
    must(cudaMalloc(&own_, kMostCtas * 1024 * sizeof(unsigned)));
    must(cudaMalloc(&near_, kNear));
    must(cudaHostAlloc(&far_, kFar, cudaHostAllocMapped));
    must(cudaMalloc(&fence_times_, 2 * kMostCtas * sizeof(Time)));
    must(cudaMalloc(&write_times_, 2 * kMostCtas * sizeof(Time)));
    must(cudaStreamCreateWithFlags(&fence_stream_, cudaStreamNonBlocking));
    must(cudaStreamCreateWithFlags(&write_stream_, cudaStreamNonBlocking));
  }

  template <Scope scope, bool stores>
  void row(const Pair& p) {
    constexpr const char* kScopes[] = {"cta", "gpu", "sys"};
    constexpr const char* kWhere[] = {"alone", "host", "device"};
    double all[kRuns], first[kRuns], after[kRuns] = {}, wrote[kRuns] = {};
    for (int r = 0; r < kRuns; ++r) {
      must(cudaDeviceSynchronize());
      if (p.where != Where::Nothing) write(p);
      delay<<<1, 1, 0, fence_stream_>>>(100000);
      fences<scope, stores><<<p.ctas, p.threads, 0, fence_stream_>>>(own_, fence_times_, p.fences);
      must(cudaGetLastError());
      must(cudaDeviceSynchronize());
      const Interval f = read(fence_times_, p.ctas);
      all[r] = double(f.end) - double(f.begin), first[r] = double(f.first);
      if (p.where == Where::Nothing) continue;
      const Interval w = read(write_times_, p.writers);
      after[r] = double(w.end) - double(f.begin), wrote[r] = double(w.end) - double(w.begin);
    }
    std::printf("%s %s %d %d %d %d %d %d | %.0f %.0f %.0f %.0f\n", kScopes[scope], kWhere[int(p.where)], int(p.domain), p.writers, p.ctas,
                p.threads, stores, p.fences, median(all), median(first), median(after), median(wrote));
  }

 private:
  void write(const Pair& p) {
    cudaLaunchAttribute domain{};
    domain.id = cudaLaunchAttributeMemSyncDomain, domain.val.memSyncDomain = p.domain;
    cudaLaunchConfig_t c{};
    c.gridDim = p.writers, c.blockDim = 256, c.stream = write_stream_, c.attrs = &domain, c.numAttrs = 1;
    const size_t bytes = p.where == Where::Host ? kFar : kNear * p.writers / kMostCtas;
    must(cudaLaunchKernelEx(&c, writes, p.where == Where::Host ? far_ : near_, bytes / sizeof(uint4), ++value_, write_times_));
  }

  unsigned *own_, value_ = 0;
  uint4 *near_, *far_;
  Time *fence_times_, *write_times_;
  cudaStream_t fence_stream_, write_stream_;
};

}  // namespace

int main() {
  Bench b;
  for (const Where where : {Where::Nothing, Where::Host, Where::Device})
    for (const int writers : {8, 32, 100}) {
      if (where == Where::Nothing && writers > 8) continue;
      for (const int n : {1, 4, 16, 64, 256, 1024}) {
        Pair p{where, cudaLaunchMemSyncDomainDefault, writers, 1, 128, n};
        for (const int ctas : {1, 16, 30}) p.ctas = ctas, b.row<kGpu, true>(p);
        p.ctas = 16;
        b.row<kGpu, false>(p);
        b.row<kSys, true>(p);
        b.row<kSys, false>(p);
        b.row<kCta, true>(p);
        if (where == Where::Nothing) continue;
        p.domain = cudaLaunchMemSyncDomainRemote;
        b.row<kGpu, true>(p);
        b.row<kSys, true>(p);
      }
    }
}
