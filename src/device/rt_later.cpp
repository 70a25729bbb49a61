// SPDX-License-Identifier: Apache-2.0
// Runtime functions that are still to come: a launch that reaches one fails by name.
#include "device/rt.h"

namespace us::numerics {
[[gnu::weak]] u64 none(u64, u64, u64) { US_UNREACHABLE(); }
}  // namespace us::numerics

namespace us::device {
#define US_LATER(id)                                                             \
  void rt_##id(WarpCtx* ctx, u32 mask, const u64*, u64*) {                       \
    die(US_RT_ENTER(ctx), Outcome::NotSupported, "runtime function " #id " is not implemented", mask); \
  }
}  // namespace us::device
