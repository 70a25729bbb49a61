// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "common.h"
#include "size.h"

struct Problem {
  static const char* name() { return "bitonic_sort"; }
  static constexpr size_t kCount = size_t{kSegments} * kSegment;
  uint32_t* in = bench::random_words(kCount, 15);
  std::vector<bench::Buffer> buffers() const {
    return {{bench::Role::In, kCount * sizeof(int), in}, {bench::Role::Out, kCount * sizeof(int)}};
  }
  std::vector<bench::Scalar> scalars() const { return {}; }
  bench::Launch launch() const { return {{kSegments, 1, 1}, {kThreads, 1, 1}}; }

  // A segment is right when it ascends and holds the same values: a sum of hashes of its elements is unchanged.
  void check(const std::vector<const void*>& results) const {
    const int* got = static_cast<const int*>(results[1]);
    bench::parallel_for(kSegments, [&](size_t begin, size_t end) {
      for (size_t s = begin; s < end; ++s) {
        uint64_t before = 0, after = 0;
        for (size_t i = s * kSegment; i < (s + 1) * kSegment; ++i) {
          before += hash(in[i]), after += hash(uint32_t(got[i]));
          if (i % kSegment && got[i - 1] > got[i]) bench::mismatch("not ascending", i, got[i - 1], got[i]);
        }
        if (before != after) bench::mismatch("segment holds other values", s, double(before), double(after));
      }
    });
  }
  static uint64_t hash(uint32_t v) { return (uint64_t{bench::random_word(v, 16)} << 32) | bench::random_word(v, 17); }
};
