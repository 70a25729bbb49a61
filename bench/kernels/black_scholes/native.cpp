// SPDX-License-Identifier: Apache-2.0
#include "host_native.h"

// Cumulative normal distribution: Abramowitz and Stegun 26.2.17.
static inline float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
  const float poly = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228040143267794f * expf(-0.5f * d * d) * poly;
  return d > 0 ? 1.0f - tail : tail;
}

// -ffast-math lets the compiler call the vector expf and logf of the C library.
void run(char* const* data) {
  const float* __restrict price = reinterpret_cast<const float*>(data[0]);
  const float* __restrict strike = reinterpret_cast<const float*>(data[1]);
  const float* __restrict years = reinterpret_cast<const float*>(data[2]);
  float* __restrict call = reinterpret_cast<float*>(data[3]);
  float* __restrict put = reinterpret_cast<float*>(data[4]);
  const float rate = Problem::kRate, volatility = Problem::kVolatility;
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < kCount; ++i) {
    const float s = price[i], x = strike[i], t = years[i];
    const float sigma = volatility * std::sqrt(t);
    const float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / sigma;
    const float n1 = normal(d1), n2 = normal(d1 - sigma);
    const float discounted = x * expf(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
  }
}
