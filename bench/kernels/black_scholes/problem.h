// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

struct Problem {
  static const char* name() { return "black_scholes"; }
  static constexpr float kRate = 0.02f, kVolatility = 0.3f;
  float* price = bench::random_floats(kCount, 12, 5, 30);
  float* strike = bench::random_floats(kCount, 13, 1, 100);
  float* years = bench::random_floats(kCount, 14, 0.25f, 10);
  std::vector<bench::Buffer> buffers() const {
    const size_t bytes = kCount * sizeof(float);
    return {{bench::Role::In, bytes, price},
            {bench::Role::In, bytes, strike},
            {bench::Role::In, bytes, years},
            {bench::Role::Out, bytes},
            {bench::Role::Out, bytes}};
  }
  std::vector<bench::Scalar> scalars() const { return {kRate, kVolatility}; }
  bench::Launch launch() const { return {{kCount / kBlock, 1, 1}, {kBlock, 1, 1}}; }

  // Every 5th option in double precision with erfc (5 is odd, so each lane of a warp is met); put-call parity for all.
  void check(const std::vector<const void*>& results) const {
    const float* call = static_cast<const float*>(results[3]);
    const float* put = static_cast<const float*>(results[4]);
    bench::parallel_for(kCount, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const double s = price[i], x = strike[i], t = years[i], discounted = x * std::exp(-double{kRate} * t);
        bench::expect_near("call - put", i, s - discounted, double{call[i]} - put[i], 0, 2e-4);
        if (i % 5) continue;
        const double sigma = kVolatility * std::sqrt(t);
        const double d1 = (std::log(s / x) + (kRate + 0.5 * kVolatility * kVolatility) * t) / sigma;
        const auto normal = [](double d) { return 0.5 * std::erfc(-d * 0.70710678118654752); };
        bench::expect_near("call", i, s * normal(d1) - discounted * normal(d1 - sigma), call[i], 1e-4, 5e-4);
      }
    });
  }
};
