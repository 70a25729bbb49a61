// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

struct Problem {
  static const char* name() { return "saxpy"; }
  static constexpr float kA = 2.5f;
  float* x = bench::random_floats(kCount, 1, -1, 1);
  float* y = bench::random_floats(kCount, 2, -1, 1);
  std::vector<bench::Buffer> buffers() const {
    return {{bench::Role::In, kCount * sizeof(float), x}, {bench::Role::InOut, kCount * sizeof(float), y}};
  }
  std::vector<bench::Scalar> scalars() const { return {kA, int{kCount}}; }
  bench::Launch launch() const { return {{kCount / kBlock, 1, 1}, {kBlock, 1, 1}}; }
  void check(const std::vector<const void*>& results) const {
    const float* got = static_cast<const float*>(results[1]);
    bench::parallel_for(kCount, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) bench::expect_near("y", i, double{kA} * x[i] + y[i], got[i], 1e-6, 1e-6);
    });
  }
};
