// SPDX-License-Identifier: Apache-2.0
// Recursive device functions whose depth differs from lane to lane.
#include "program.h"
using namespace program;

__host__ __device__ __noinline__ uint32_t ackermann(uint32_t m, uint32_t n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__host__ __device__ __noinline__ uint32_t odd_part(uint32_t n);
__host__ __device__ __noinline__ uint32_t even_part(uint32_t n) { return n == 0 ? 17 : odd_part(n - 1) * 3 + n; }
__host__ __device__ __noinline__ uint32_t odd_part(uint32_t n) { return n == 0 ? 23 : even_part(n - 1) * 5 ^ n; }

__host__ __device__ __noinline__ void sort(uint32_t* v, int first, int last) {
  if (first >= last) return;
  const uint32_t pivot = v[(first + last) / 2];
  int i = first, j = last;
  while (i <= j) {
    while (v[i] < pivot) ++i;
    while (v[j] > pivot) --j;
    if (i <= j) {
      const uint32_t t = v[i];
      v[i++] = v[j];
      v[j--] = t;
    }
  }
  sort(v, first, j);
  sort(v, i, last);
}

// An array in each frame.
__host__ __device__ __noinline__ uint32_t permutations(uint32_t used, int depth, uint32_t path) {
  uint32_t order[5], sum = 0;
  if (depth == 5) return mix(path);
  for (int k = 0; k < 5; ++k) order[k] = (k + path) % 5;
  for (int k = 0; k < 5; ++k)
    if (!(used >> order[k] & 1)) sum = sum * 3 + permutations(used | 1u << order[k], depth + 1, path * 5 + order[k]);
  return sum;
}

__host__ __device__ uint32_t one(int i, uint32_t* v) {
  const uint32_t a = ackermann(i % 3, i % 6), b = even_part(i % 29), c = permutations(0, i % 2, i % 7);
  for (int k = 0; k < 24; ++k) v[k] = mix(i * 24 + k);
  sort(v, 0, 23 - i % 11);
  uint32_t sum = a + 31 * b + 37 * c;
  for (int k = 0; k < 24; ++k) sum = sum * 3 + v[k];
  return sum;
}

__global__ void all(uint32_t* out, uint32_t* scratch) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = one(i, scratch + i * 24);
}

int main() {
  const int n = 160;
  Device<uint32_t> out(n), scratch(n * 24);
  MUST(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  all<<<2, n / 2>>>(out, scratch);
  MUST_RUN();
  std::vector<uint32_t> want(n), v(24);
  for (int i = 0; i < n; ++i) want[i] = one(i, v.data());
  expect_equal("recursion", out.copy(), want);
  return finish();
}
