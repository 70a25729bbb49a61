// SPDX-License-Identifier: Apache-2.0
// A fast 128-bit digest of trusted data, for cache keys and checksums: not for security.
#pragma once

#include <cstring>
#include <string_view>

#include "base/types.h"

namespace us {

struct Hash {  // two independent 64-bit multiply-xor hashes
  u64 a = 0x9e3779b97f4a7c15ull, b = 0xc2b2ae3d27d4eb4full;

  void word(u64 v) {
    a = (a ^ v) * 0xff51afd7ed558ccdull;
    a ^= a >> 32;
    b = (b + v) * 0xc4ceb9fe1a85ec53ull;
    b ^= b >> 29;
  }
  void bytes(const void* p, std::size_t n) {
    const u8* s = static_cast<const u8*>(p);
    u64 v;
    for (; n >= 8; s += 8, n -= 8) {
      std::memcpy(&v, s, 8);
      word(v);
    }
    v = 0;
    std::memcpy(&v, s, n);
    word(v ^ (u64{n} << 56));
  }
  void text(std::string_view s) {
    word(s.size());
    bytes(s.data(), s.size());
  }
};

}  // namespace us
