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
US_LATER(Vprintf)
US_LATER(Malloc)
US_LATER(Free)
US_LATER(MbarInit)
US_LATER(MbarInval)
US_LATER(MbarArrive)
US_LATER(MbarExpectTx)
US_LATER(MbarCompleteTx)
US_LATER(MbarTestWait)
US_LATER(MbarPending)
US_LATER(CpAsync)
US_LATER(CpAsyncCommit)
US_LATER(CpAsyncWait)
US_LATER(CpAsyncMbarArrive)
US_LATER(Match)
US_LATER(Redux)
US_LATER(Assert)
}  // namespace us::device
