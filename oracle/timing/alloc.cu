// SPDX-License-Identifier: Apache-2.0
// What cudaMalloc and cudaFree take of the host, by what else is allocated. Lines: what, bytes | ns of cudaMalloc, ns
// of cudaFree, medians. `alone`: nothing else; `beside`: 256 bytes that stay; `many`: 64 of the size in a row, then
// freed in the order in which they came (mean of each, the longest, and how many took more than 12 us).
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

static double now() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
static void must(cudaError_t e) {
  if (e != cudaSuccess) std::printf("%s\n", cudaGetErrorString(e)), std::exit(1);
}
static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

int main() {
  constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB;
  must(cudaFree(nullptr));
  for (const char* what : {"alone", "beside"}) {
    void* stays = nullptr;
    if (what[0] == 'b') must(cudaMalloc(&stays, 256));
    for (const size_t n : {size_t(4), 4 * kKiB, 64 * kKiB, 256 * kKiB, 512 * kKiB, kMiB - 512, kMiB, 3 * kMiB / 2,
                           2 * kMiB - 512, 2 * kMiB, 3 * kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB, 256 * kMiB}) {
      std::vector<double> a, f;
      for (int k = 0; k < 21; ++k) {
        void* p;
        const double t0 = now();
        must(cudaMalloc(&p, n));
        const double t1 = now();
        must(cudaFree(p));
        a.push_back(t1 - t0), f.push_back(now() - t1);
      }
      std::printf("%s %zu | %.0f %.0f\n", what, n, median(a), median(f));
    }
    if (stays) must(cudaFree(stays));
  }
  for (const size_t n : {size_t(256), 4 * kKiB, 64 * kKiB, 256 * kKiB, size_t(700000), kMiB, 3 * kMiB / 2, 2 * kMiB,
                         4 * kMiB, 16 * kMiB}) {
    void* p[64];
    double a = 0, f = 0, am = 0, fm = 0;
    int slow_a = 0, slow_f = 0;
    for (void*& q : p) {
      const double t = now();
      must(cudaMalloc(&q, n));
      const double d = now() - t;
      a += d, am = std::max(am, d), slow_a += d > 12000;
    }
    for (void* q : p) {
      const double t = now();
      must(cudaFree(q));
      const double d = now() - t;
      f += d, fm = std::max(fm, d), slow_f += d > 12000;
    }
    std::printf("many %zu | %.0f %.0f longest %.0f %.0f above 12 us %d %d\n", n, a / 64, f / 64, am, fm, slow_a, slow_f);
  }
  for (const size_t n : {4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB, 64 * kMiB}) {
    std::vector<double> a, f, r, u;
    std::vector<char> m(n);
    for (int k = 0; k < 11; ++k) {
      void* p;
      double t = now();
      must(cudaMallocHost(&p, n));
      a.push_back(now() - t), t = now();
      must(cudaFreeHost(p));
      f.push_back(now() - t), t = now();
      must(cudaHostRegister(m.data(), n, 0));
      r.push_back(now() - t), t = now();
      must(cudaHostUnregister(m.data()));
      u.push_back(now() - t);
    }
    std::printf("host %zu | %.0f %.0f register %.0f unregister %.0f\n", n, median(a), median(f), median(r), median(u));
  }
}
