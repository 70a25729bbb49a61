// SPDX-License-Identifier: Apache-2.0
// What every runtime function starts with.
#pragma once
#include <bit>

#include "device/abi/rt_args.h"
#include "device/schedule/report.h"
#include "device/schedule/worker.h"
#include "memory/texture.h"

namespace us::device {

#define US_RT(id, arguments, outcomes, note) void rt_##id(WarpCtx*, u32 mask, const u64* args, u64* results);
#define US_RT_MANY US_RT
#include "device/abi/rt_functions.inc"
#undef US_RT_MANY
#undef US_RT
template <class Args>  // XArgs of rt_X
const Args& named(const u64* args) {
  return *reinterpret_cast<const Args*>(args);
}
template <class Results>  // XResults of rt_X
Results& named(u64* results) {
  return *reinterpret_cast<Results*>(results);
}

// Must be expanded in the runtime function itself: the return address is the place in compiled code.
#define US_RT_ENTER(ctx) enter_rt(ctx, __builtin_return_address(0))
inline Warp& enter_rt(WarpCtx* ctx, const void* site) {
  Warp& w = warp_of(ctx);
  w.site = site;
  return w;
}

void require_rights(Warp&, u64 address, bool write, u32 lane);  // the device's to what others may have
std::string warpgroup_state(Warp&);                             // of the one it waits for
inline u32 first_lane(u32 mask) { return u32(std::countr_zero(mask)) % kWarpSize; }
inline Worker& worker_of(Warp& w) { return *w.home->slot->worker; }
inline Machine& machine_of(Warp& w) { return worker_of(w).machine; }
// The texture or surface object of a handle; null: there is none.
const memory::TextureObject* image_of(Warp&, u64 handle, u32 magic);
// The lanes of a mask, lowest first: for (u32 l : Lanes(mask)).
class Lanes {
 public:
  explicit Lanes(u32 mask) : mask_(mask) {}
  struct Iterator {
    u32 left;
    u32 operator*() const { return u32(std::countr_zero(left)); }
    Iterator& operator++() {
      left &= left - 1;
      return *this;
    }
    bool operator!=(const Iterator& o) const { return left != o.left; }
  };
  Iterator begin() const { return {mask_}; }
  Iterator end() const { return {0}; }

 private:
  u32 mask_;
};

}  // namespace us::device
