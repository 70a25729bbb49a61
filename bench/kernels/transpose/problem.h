// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

struct Problem {
  static const char* name() { return "transpose"; }
  static constexpr size_t kCount = size_t{kSize} * kSize;
  float* in = bench::random_floats(kCount, 18, -1, 1);
  std::vector<bench::Buffer> buffers() const {
    return {{bench::Role::In, kCount * sizeof(float), in}, {bench::Role::Out, kCount * sizeof(float)}};
  }
  std::vector<bench::Scalar> scalars() const { return {int{kSize}}; }
  bench::Launch launch() const { return {{kSize / kTile, kSize / kTile, 1}, {kTile, kRows, 1}}; }
  void check(const std::vector<const void*>& results) const {
    const float* got = static_cast<const float*>(results[1]);
    bench::parallel_for(kSize / kTile, [&](size_t begin, size_t end) {
      for (size_t y0 = begin * kTile; y0 < end * kTile; y0 += kTile)
        for (size_t x = 0; x < kSize; ++x)
          for (size_t y = y0; y < y0 + kTile; ++y)
            bench::expect_equal("out", x * kSize + y, in[y * kSize + x], got[x * kSize + y]);
    });
  }
};
