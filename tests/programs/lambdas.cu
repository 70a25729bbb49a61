// SPDX-License-Identifier: Apache-2.0
// flags: --extended-lambda --expt-relaxed-constexpr
// Kernels that take lambdas, constexpr library functions in device code, templates over types and values.
#include <algorithm>
#include <array>

#include "program.h"
using namespace program;

template <typename F>
__global__ void for_each(int n, F f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}

template <typename T, int kN>
struct Polynomial {
  std::array<T, kN> coefficient;
  __host__ __device__ T operator()(T x) const {
    T sum = 0;
    for (int k = kN - 1; k >= 0; --k) sum = sum * x + coefficient[k];
    return sum;
  }
};

int main() {
  const int n = 1000;
  const std::vector<uint32_t> in = random_words(n, 55);
  Device<uint32_t> from(in), out(n);
  uint32_t *o = out, *f = from;
  const uint32_t offset = 17;
  const Polynomial<uint32_t, 5> p{{3, 1, 4, 1, 5}};
  for_each<<<3, 96>>>(n, [=] __device__(int i) { o[i] = p(f[i]) + std::max(f[i], offset * f[(i + 1) % n]) + std::min<uint32_t>(i, 500); });
  MUST_RUN();
  std::vector<uint32_t> want(n);
  for (int i = 0; i < n; ++i) want[i] = p(in[i]) + std::max(in[i], offset * in[(i + 1) % n]) + std::min<uint32_t>(i, 500);
  expect_equal("lambda", out.copy(), want);
  auto both = [=] __host__ __device__(uint32_t v) { return mix(v) / (offset + v % 9); };
  for_each<<<2, 33>>>(n, [=] __device__(int i) { o[i] = both(f[i]); });
  MUST_RUN();
  for (int i = 0; i < n; ++i) want[i] = both(in[i]);
  expect_equal("lambda of both sides", out.copy(), want);
  return finish();
}
