// SPDX-License-Identifier: Apache-2.0
#include "host_cuda.cuh"

// Cumulative normal distribution: Abramowitz and Stegun 26.2.17.
__device__ float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float poly = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228040143267794f * expf(-0.5f * d * d) * poly;
  return d > 0 ? 1.0f - tail : tail;
}

__global__ void black_scholes(const float* price, const float* strike, const float* years, float* call, float* put, float rate,
                              float volatility) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float s = price[i], x = strike[i], t = years[i];
  const float sigma = volatility * sqrtf(t);
  const float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / sigma;
  const float n1 = normal(d1), n2 = normal(d1 - sigma);
  const float discounted = x * expf(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}

void launch_kernel(dim3 grid, dim3 block, const Arguments& a) {
  black_scholes<<<grid, block>>>(a.buffer<float>(0), a.buffer<float>(1), a.buffer<float>(2), a.buffer<float>(3),
                                 a.buffer<float>(4), a.scalar<float>(0), a.scalar<float>(1));
}
