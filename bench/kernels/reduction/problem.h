// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

struct Problem {
  static const char* name() { return "reduction"; }
  float* in = bench::random_floats(kCount, 8, 0, 1);
  float zero = 0;
  std::vector<bench::Buffer> buffers() const {
    return {{bench::Role::In, kCount * sizeof(float), in}, {bench::Role::InOut, sizeof(float), &zero}};
  }
  std::vector<bench::Scalar> scalars() const { return {}; }
  bench::Launch launch() const { return {{kCount / kPerBlock, 1, 1}, {kBlock, 1, 1}}; }
  void check(const std::vector<const void*>& results) const {
    std::vector<double> sums(64, 0.0);
    bench::parallel_for(sums.size(), [&](size_t begin, size_t end) {
      for (size_t s = begin; s < end; ++s)
        for (size_t i = kCount / 64 * s; i < kCount / 64 * (s + 1); ++i) sums[s] += in[i];
    });
    double sum = 0;
    for (double s : sums) sum += s;
    bench::expect_near("sum", 0, sum, *static_cast<const float*>(results[1]), 1e-4, 0);
  }
};
