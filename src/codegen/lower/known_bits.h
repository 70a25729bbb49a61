// SPDX-License-Identifier: Apache-2.0
// What is known about the low bits of values, for alignment: modulo 2^bits a value is `root + add`, where root is a
// value that is the same in all lanes (or nothing). All elements of an array have the root that is the array's address,
// however their index was computed, so one scalar test of it speaks for all accesses.
#pragma once
#include "codegen/lower/analysis.h"

namespace us::codegen {

struct KnownBits {
  static constexpr u32 kMost = 5;
  ir::ValueId root;
  u32 add = 0, bits = 0;  // bits == 0: nothing is known
  bool operator==(const KnownBits&) const = default;
};

std::vector<KnownBits> known_bits(const ir::Module&, const ir::Function&, const ir::Cfg&,
                                  const Analysis&);  // by ValueId

}  // namespace us::codegen
