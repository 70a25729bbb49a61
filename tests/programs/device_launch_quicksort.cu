// SPDX-License-Identifier: Apache-2.0
// flags: -rdc=true -lcudadevrt
// Dynamic parallelism: a quicksort whose kernel sorts both parts of its range by launching itself,
// each in a stream of its own.
#include <algorithm>

#include "program.h"
using namespace program;

constexpr int kDeepest = 12, kSmall = 24;

__device__ void insertion_sort(uint32_t* v, int n) {
  for (int i = 1; i < n; ++i) {
    const uint32_t x = v[i];
    int j = i;
    for (; j > 0 && v[j - 1] > x; --j) v[j] = v[j - 1];
    v[j] = x;
  }
}

__device__ void heap_sort(uint32_t* v, int n) {
  for (int top = n / 2 - 1, end = n; end > 1;) {
    int at;
    if (top >= 0) {
      at = top--;
    } else {
      --end;
      const uint32_t t = v[0];
      v[0] = v[end];
      v[end] = t;
      at = 0;
    }
    const uint32_t x = v[at];
    for (int c = 2 * at + 1; c < end; c = 2 * at + 1) {
      if (c + 1 < end && v[c + 1] > v[c]) ++c;
      if (v[c] <= x) break;
      v[at] = v[c];
      at = c;
    }
    v[at] = x;
  }
}

__global__ void sort(uint32_t* v, int n, int depth, unsigned* grids) {
  atomicAdd(grids, 1u);
  if (n <= kSmall) return insertion_sort(v, n);
  if (depth == kDeepest) return heap_sort(v, n);
  const uint32_t pivot = max(min(v[0], v[n / 2]), min(max(v[0], v[n / 2]), v[n - 1]));
  int i = 0, j = n - 1;
  while (i <= j) {
    while (v[i] < pivot) ++i;
    while (v[j] > pivot) --j;
    if (i <= j) {
      const uint32_t t = v[i];
      v[i++] = v[j];
      v[j--] = t;
    }
  }
  for (int part = 0; part < 2; ++part) {
    cudaStream_t s;
    uint32_t* const from = part ? v + i : v;
    const int count = part ? n - i : j + 1;
    if (count < 2) continue;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    sort<<<1, 1, 0, s>>>(from, count, depth + 1, grids);
    cudaStreamDestroy(s);
  }
}

int main() {
  for (const int n : {1, 2, 25, 1000, 5000}) {
    std::vector<uint32_t> in(n);
    for (int i = 0; i < n; ++i) in[i] = mix(i) % (n > 2000 ? 100000 : 50);
    Device<uint32_t> d(in);
    Device<unsigned> grids(1);
    sort<<<1, 1>>>(d, n, 0, grids);
    MUST_RUN();
    std::vector<uint32_t> want = in;
    std::sort(want.begin(), want.end());
    char name[40];
    std::snprintf(name, sizeof name, "%d numbers, %u grids", n, grids.copy()[0]);
    expect_equal(name, d.copy(), want);
  }
  return finish();
}
