// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

struct Problem {
  static const char* name() { return "histogram"; }
  uint32_t* in = bench::random_words(kWords, 10);
  uint32_t zeros[kBins] = {};
  std::vector<bench::Buffer> buffers() const {
    return {{bench::Role::In, kWords * sizeof(uint32_t), in}, {bench::Role::InOut, sizeof zeros, zeros}};
  }
  std::vector<bench::Scalar> scalars() const { return {int{kWords}}; }
  bench::Launch launch() const { return {{kBlocks, 1, 1}, {kBlock, 1, 1}}; }
  void check(const std::vector<const void*>& results) const {
    uint32_t expected[kBins] = {};
    for (size_t i = 0; i < kWords; ++i)
      for (int shift = 0; shift < 32; shift += 8) ++expected[in[i] >> shift & 255];
    for (size_t i = 0; i < kBins; ++i)
      bench::expect_equal("bin", i, expected[i], static_cast<const uint32_t*>(results[1])[i]);
  }
};
