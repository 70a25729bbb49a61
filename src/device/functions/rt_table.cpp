// SPDX-License-Identifier: Apache-2.0
#include "device/functions/rt.h"
#include "numerics/numerics.h"

namespace us::device {

const RtFunction* rt_table() {
  static constexpr RtFunction table[] = {
#define US_RT(id, args, results, note) rt_##id,
#define US_RT_MANY US_RT
#include "device/abi/rt_functions.inc"
#undef US_RT_MANY
#undef US_RT
  };
  return table;
}

const NumFunction* num_table() {
  static constexpr NumFunction table[] = {
#define US_NUM(id, args, note) numerics::id,
#include "numerics/functions.inc"
#undef US_NUM
  };
  return table;
}

}  // namespace us::device
