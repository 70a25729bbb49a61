// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "codegen/lower/shape.h"

namespace us::codegen {

// `tid < 32`, `tid > 63`: is the bound between the numbers of one warp and those of the next, so that the bases alone
// decide?
static bool bound_between_warps(ICmp op, const Shape& lanes, const Shape& bound) {
  if (!lanes.pattern() || lanes.guarded || !bound.uniform() || lanes.bits > 64 || !lanes.disjoint()) return false;
  u64 span = 1;
  while (span <= static_cast<u64>(lanes.max_offset())) span *= 2;
  if (span - 1 >= mask_bits(lanes.bits) / 2) return false;
  switch (op) {
    case ICmp::ULt:
    case ICmp::UGe:
    case ICmp::SLt:
    case ICmp::SGe:
      return bound.known ? bound.value % span == 0 : (span >> std::min<u32>(bound.low_zeros, 63)) <= 1;
    case ICmp::ULe:
    case ICmp::UGt:
    case ICmp::SLe:
    case ICmp::SGt:
      return bound.known && bound.value % span == span - 1;
    default:
      return false;
  }
}

static ICmp with_sides_changed(ICmp op) {
  switch (op) {
    case ICmp::ULt:
      return ICmp::UGt;
    case ICmp::ULe:
      return ICmp::UGe;
    case ICmp::UGt:
      return ICmp::ULt;
    case ICmp::UGe:
      return ICmp::ULe;
    case ICmp::SLt:
      return ICmp::SGt;
    case ICmp::SLe:
      return ICmp::SGe;
    case ICmp::SGt:
      return ICmp::SLt;
    case ICmp::SGe:
      return ICmp::SLe;
    default:
      return op;
  }
}

bool bases_decide(ICmp op, const Shape& a, const Shape& b) {
  return bound_between_warps(op, a, b) || bound_between_warps(with_sides_changed(op), b, a);
}

}  // namespace us::codegen
