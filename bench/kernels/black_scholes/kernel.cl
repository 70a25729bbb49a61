// SPDX-License-Identifier: Apache-2.0
// Cumulative normal distribution: Abramowitz and Stegun 26.2.17.
float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  const float poly = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228040143267794f * exp(-0.5f * d * d) * poly;
  return d > 0 ? 1.0f - tail : tail;
}

__kernel void black_scholes(__global const float* restrict price, __global const float* restrict strike,
                            __global const float* restrict years, __global float* restrict call,
                            __global float* restrict put, float rate, float volatility) {
  const int i = get_global_id(0);
  const float s = price[i], x = strike[i], t = years[i];
  const float sigma = volatility * sqrt(t);
  const float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / sigma;
  const float n1 = normal(d1), n2 = normal(d1 - sigma);
  const float discounted = x * exp(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}
