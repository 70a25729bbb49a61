// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 126
// flags: -lcufft
// A kernel reads what cuFFT wrote: rows with and without gaps between.
#include <cufft.h>

#include "../twin.h"

__global__ void kernel(const float2* packed, const float2* apart, int* out) {
  const int t = threadIdx.x;
  out[t] = packed[t].x == 1 && apart[t / 8 * 12 + t % 8].x == 1;
}

int main() {
  // Four rows that begin with a one: their transforms are ones.
  float2* in = device<float2>(32, [](int i) { return float2{i % 8 ? 0.f : 1.f, 0.f}; });
  float2 *packed, *apart;
  int* out = zeros(32);
  must(cudaMalloc(&packed, 32 * sizeof(float2)), "cudaMalloc");
  must(cudaMalloc(&apart, 48 * sizeof(float2)), "cudaMalloc");
  cufftHandle one, other;
  int n = 8, row = 8, wide = 12;
  bool bad = cufftPlan1d(&one, 8, CUFFT_C2C, 4) != CUFFT_SUCCESS;
  bad = bad || cufftPlanMany(&other, 1, &n, &row, 1, 8, &wide, 1, 12, CUFFT_C2C, 4) != CUFFT_SUCCESS;
  bad = bad || cufftExecC2C(one, in, packed, CUFFT_FORWARD) != CUFFT_SUCCESS;
  bad = bad || cufftExecC2C(other, in, apart, CUFFT_FORWARD) != CUFFT_SUCCESS;
  if (bad) return verdict(false);
  kernel<<<1, 32>>>(packed, apart, out);
  return judge(out, 32, [](int) { return 1; });
}
