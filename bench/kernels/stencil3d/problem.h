// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

struct Problem {
  static const char* name() { return "stencil3d"; }
  static constexpr size_t kCount = size_t{kPlane} * kZ;
  static constexpr float kCentre = 0.4f, kNeighbour = 0.1f;
  float* in = bench::random_floats(kCount, 9, -1, 1);
  std::vector<bench::Buffer> buffers() const {
    return {{bench::Role::In, kCount * sizeof(float), in}, {bench::Role::Out, kCount * sizeof(float)}};
  }
  std::vector<bench::Scalar> scalars() const { return {kCentre, kNeighbour}; }
  bench::Launch launch() const { return {{kX / kTileX, kY / kTileY, kZ / kDepth}, {kTileX, kTileY, 1}}; }
  void check(const std::vector<const void*>& results) const {
    const float* got = static_cast<const float*>(results[1]);
    const auto at = [&](int x, int y, int z) -> double {
      x = std::min(std::max(x, 0), kX - 1), y = std::min(std::max(y, 0), kY - 1), z = std::min(std::max(z, 0), kZ - 1);
      return in[size_t(z) * kPlane + y * kX + x];
    };
    bench::parallel_for(kZ, [&](size_t begin, size_t end) {
      for (int z = int(begin); z < int(end); ++z)
        for (int y = 0; y < kY; ++y)
          for (int x = 0; x < kX; ++x) {
            const double sum = at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) + at(x, y, z - 1) +
                               at(x, y, z + 1);
            const size_t i = size_t(z) * kPlane + y * kX + x;
            bench::expect_near("out", i, kCentre * at(x, y, z) + kNeighbour * sum, got[i], 1e-5, 1e-6);
          }
    });
  }
};
