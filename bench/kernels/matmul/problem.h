// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

struct Problem {
  static const char* name() { return "matmul"; }
  static constexpr size_t kCount = size_t{kSize} * kSize;
  float* a = bench::random_floats(kCount, 4, -1, 1);
  float* b = bench::random_floats(kCount, 5, -1, 1);
  std::vector<bench::Buffer> buffers() const {
    return {{bench::Role::In, kCount * sizeof(float), a},
            {bench::Role::In, kCount * sizeof(float), b},
            {bench::Role::Out, kCount * sizeof(float)}};
  }
  std::vector<bench::Scalar> scalars() const { return {int{kSize}}; }
  bench::Launch launch() const { return {{kSize / kTile, kSize / kTile, 1}, {kTile, kTile, 1}}; }

  // Every element enters: C * r is compared with A * (B * r) for a random vector r of +1 and -1,
  // and 4096 elements exactly.
  void check(const std::vector<const void*>& results) const {
    const float* c = static_cast<const float*>(results[2]);
    std::vector<double> r(kSize), br(kSize, 0.0);
    for (size_t i = 0; i < kSize; ++i) r[i] = bench::random_word(6, i) & 1 ? 1.0 : -1.0;
    for (size_t i = 0; i < kCount; ++i) br[i / kSize] += b[i] * r[i % kSize];
    for (size_t row = 0; row < kSize; ++row) {
      double abr = 0, cr = 0;
      for (size_t k = 0; k < kSize; ++k) abr += a[row * kSize + k] * br[k], cr += c[row * kSize + k] * r[k];
      bench::expect_near("c row", row, abr, cr, 0, 5e-3);
    }
    for (size_t sample = 0; sample < 4096; ++sample) {
      const size_t i = bench::random_word(7, sample) % kCount;
      double sum = 0;
      for (size_t k = 0; k < kSize; ++k) sum += double{a[i / kSize * kSize + k]} * b[k * kSize + i % kSize];
      bench::expect_near("c", i, sum, c[i], 1e-4, 1e-4);
    }
  }
};
