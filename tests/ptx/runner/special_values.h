// SPDX-License-Identifier: Apache-2.0
// Edge cases of every type, and random values that are neither all huge nor all equal.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ptx_test {

struct Random {  // splitmix64
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
  }
};

// Values whose combinations are tried: zeros, limits, subnormals, infinities, NaN with payloads, rounding midpoints.
std::vector<std::uint64_t> special_values(const std::string& type);
std::uint64_t random_value(const std::string& type, Random&);
// Element k of operand `which` out of `of`: combinations first, then random values.
std::uint64_t cross_value(const std::string& type, std::size_t k, unsigned which, unsigned of, Random&);

}  // namespace ptx_test
