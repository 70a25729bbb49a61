// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

struct Problem {
  static const char* name() { return "tensor_tile"; }
  static constexpr float kScale = -0.75f, kBias = 2;
  static constexpr size_t kCount = size_t(kRows) * kColumns;
  float* in = bench::random_floats(kCount, 23, -1, 1);
  std::vector<bench::Buffer> buffers() const {
    return {{bench::Role::In, kCount * sizeof(float), in}, {bench::Role::Out, kCount * sizeof(float)}};
  }
  std::vector<bench::Scalar> scalars() const { return {kScale, kBias}; }
  bench::Launch launch() const { return {{kColumns / (kTileColumns * kTiles), kRows / kTileRows, 1}, {kBlock, 1, 1}}; }
  void check(const std::vector<const void*>& results) const {
    const float* got = static_cast<const float*>(results[1]);
    bench::parallel_for(kCount, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
        bench::expect_near("out", i, double(kScale) * in[i] + kBias, got[i], 1e-6, 1e-6);
    });
  }
};
