// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

// Bodies are (x, y, z, mass); the result is (ax, ay, az, 0).
struct Problem {
  static const char* name() { return "nbody"; }
  static constexpr float kSoftening = 1e-2f;
  float* bodies = bench::random_floats(size_t{kBodies} * 4, 11, 0.1f, 1);
  std::vector<bench::Buffer> buffers() const {
    return {{bench::Role::In, size_t{kBodies} * 16, bodies}, {bench::Role::Out, size_t{kBodies} * 16}};
  }
  std::vector<bench::Scalar> scalars() const { return {kSoftening}; }
  bench::Launch launch() const { return {{kBodies / kBlock, 1, 1}, {kBlock, 1, 1}}; }

  // Every 13th body is computed again in double precision (13 is odd, so each lane of a warp is met).
  void check(const std::vector<const void*>& results) const {
    const float* got = static_cast<const float*>(results[1]);
    bench::parallel_for(kBodies / 13, [&](size_t begin, size_t end) {
      for (size_t i = begin * 13; i < end * 13; i += 13) {
        double a[3] = {}, scale = 0;
        for (size_t j = 0; j < kBodies; ++j) {
          double d[3], d2 = kSoftening;
          for (int k = 0; k < 3; ++k) d[k] = double{bodies[j * 4 + k]} - bodies[i * 4 + k], d2 += d[k] * d[k];
          const double f = bodies[j * 4 + 3] / (d2 * std::sqrt(d2));
          for (int k = 0; k < 3; ++k) a[k] += d[k] * f, scale += std::fabs(d[k]) * f;
        }
        for (int k = 0; k < 3; ++k) bench::expect_near("acceleration", i * 4 + k, a[k], got[i * 4 + k], 1e-4, 1e-5 * scale);
      }
    });
  }
};
