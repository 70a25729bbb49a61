// SPDX-License-Identifier: Apache-2.0
// One stream of random numbers per input: the seed that is printed gives the input again.
#pragma once
#include "base/types.h"

namespace fuzz {

class Random {
 public:
  explicit Random(us::u64 seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x1234567) {}
  us::u64 next() {  // splitmix64
    us::u64 z = state_ += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
  us::u32 below(us::u32 n) { return static_cast<us::u32>((next() >> 32) * n >> 32); }
  bool chance(us::u32 percent) { return below(100) < percent; }
  template <class C>
  auto& pick(C& c) {
    return c[below(static_cast<us::u32>(c.size()))];
  }

 private:
  us::u64 state_;
};

}  // namespace fuzz
