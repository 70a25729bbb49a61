// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

struct Problem {
  static const char* name() { return "async_copy"; }
  static constexpr float kScale = 1.25f, kBias = 0.5f;
  float* in = bench::random_floats(kCount, 21, -1, 1);
  std::vector<bench::Buffer> buffers() const {
    return {{bench::Role::In, kCount * sizeof(float), in}, {bench::Role::Out, kCount * sizeof(float)}};
  }
  std::vector<bench::Scalar> scalars() const { return {kScale, kBias}; }
  bench::Launch launch() const { return {{kCount / (kTile * kTiles), 1, 1}, {kBlock, 1, 1}}; }
  void check(const std::vector<const void*>& results) const {
    const float* got = static_cast<const float*>(results[1]);
    bench::parallel_for(kCount, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const double from = in[i / kTile * kTile + (kTile - 1 - i % kTile)];
        bench::expect_near("out", i, kScale * from + kBias, got[i], 1e-6, 1e-6);
      }
    });
  }
};
