// SPDX-License-Identifier: Apache-2.0
// Reductions of asynchronous copies: each element of the destination is combined with one of the source, atomically.
#pragma once
#include "device/abi/reduce_codes.h"

namespace us::device {

struct Reduction {
  ReduceOp op = ReduceOp::None;
  Element type = Element::U32;
};
u32 bytes_of(Element);
// `bytes`: a multiple of the element's size; both addresses are multiples of it.
void reduce_into(u8* dst, const u8* src, u32 bytes, Reduction);

}  // namespace us::device
