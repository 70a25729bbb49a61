// SPDX-License-Identifier: Apache-2.0
// Runtime functions that instrumented code calls beside its instructions.
#include "device/functions/rt.h"
#include "device/probe/tell.h"

namespace us::device {
namespace {

using probe::Space;

constexpr u64 kConstBytes = 64 * 1024;

struct Spot {
  Space space;
  u64 address;
};

// Where a generic address of a lane points.
Spot resolve(const Warp& w, u64 a, u32 lane) {
  const GridCtx& g = *w.grid;
  const auto within = [a](const void* base, u64 bytes) { return base && a - std::bit_cast<u64>(base) < bytes; };
  if (within(w.window, cluster_window_bytes(*w.home->slot))) return {Space::Shared, a - std::bit_cast<u64>(w.window)};
  const u8* const local = w.local + lane * w.local_stride;
  if (w.local_stride && within(local - kLocalBefore, w.local_stride))
    return {Space::Local, a - std::bit_cast<u64>(local)};
  if (within(g.const_bank, kConstBytes)) return {Space::Const, a};
  if (within(g.params, kParamBytes)) return {Space::Param, a};
  return {Space::Global, a};
}

// One event for each space that the lanes' addresses lie in.
void tell_generic(Warp& w, u32 mask, const u64* addresses, probe::Access& e) {
  constexpr Space all[] = {Space::Global, Space::Shared, Space::Local, Space::Const};
  u64 at[kWarpSize] = {};
  u32 lanes[5] = {};
  for (u32 l : Lanes(mask)) {
    const Spot s = resolve(w, addresses[l], l);
    lanes[u32(s.space)] |= 1u << l, at[l] = s.address;
  }
  e.address = at;
  const u32 wrote = e.wrote;
  for (const Space s : all)
    if (const u32 here = lanes[u32(s)]) {
      e.space = s, e.wrote = wrote & here;
      w.listener->access(who(w, here), e);
    }
}

void tell_warp_sync(Warp& w, u32 lanes, const u64* members) {
  Told& t = *w.told;
  if (const u32 told = lanes & t.met) t.met &= ~told, lanes &= ~told;
  while (lanes) {  // all that are named have come, and wait if they are not here
    const u32 l = first_lane(lanes), named = u32(members[l]) & w.live;
    u32 together = named | 1u << l;
    probe::Meeting m;
    m.kind = MeetingKind::WarpSync;
    m.members = u32(members[l]);
    w.listener->meeting(who(w, together), m);
    t.met |= together & ~lanes;
    lanes &= ~together;
  }
}

void tell_fence(Warp& w, u32 mask, const NoteCode& c, const u64* addresses) {
  probe::Fence f;
  f.kind = c.fence, f.order = c.order, f.scope = c.scope;
  f.every_space = c.space == NoteCode::kEverySpace;
  if (!f.every_space) f.space = Space(c.space);
  if (f.kind == FenceKind::TensormapAcquire) f.address = addresses;
  w.listener->fence(who(w, mask), f);
}

}  // namespace

void rt_ProbeAccess(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (!w.listener) return;
  const auto& a = named<ProbeAccessArgs>(args);
  const AccessCode code = AccessCode::unpack(a.code[first_lane(mask)]);
  const u64* rows[8];
  for (u32 k = 0; k < code.values; ++k) rows[k] = a.value[k].lane;
  probe::Access e;
  e.kind = code.kind, e.order = code.order, e.scope = code.scope, e.nc = code.nc;
  e.bytes = code.bytes, e.count = code.count;
  e.values = {rows, code.values};
  e.window = w.window;
  if (code.kind == probe::Access::Kind::Atomic) {
    e.wrote = 0;
    for (u32 l : Lanes(mask)) e.wrote |= u32(a.value[1][l] & 1) << l;
  }
  if (code.space == AccessCode::kGeneric) return tell_generic(w, mask, a.addr.lane, e);
  e.space = Space(code.space);
  e.address = a.addr.lane;
  u64 at[kWarpSize] = {};
  if (e.space == Space::Const) {  // compiled code has the address, the interpreter the offset in the bank
    for (u32 l : Lanes(mask))
      at[l] = a.addr[l] < kConstBytes ? a.addr[l] + std::bit_cast<u64>(w.grid->const_bank) : a.addr[l];
    e.address = at;
  }
  w.listener->access(who(w, mask), e);
}

void rt_ProbeNote(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (!w.listener) return;
  const auto& a = named<ProbeNoteArgs>(args);
  const NoteCode code = NoteCode::unpack(a.code[first_lane(mask)]);
  switch (code.what) {
    case NoteCode::What::Fence:
      return tell_fence(w, mask, code, a.value.lane);
    case NoteCode::What::WarpSync:
      return tell_warp_sync(w, mask, a.value.lane);
    case NoteCode::What::RegisterPool: {
      probe::Meeting m;
      m.kind = MeetingKind::RegisterPool;
      m.threads = code.number, m.arrive_only = code.flag != 0;
      return w.listener->meeting(who(w, mask), m);
    }
    case NoteCode::What::Sync:
      w.told->next = code;
  }
}

}  // namespace us::device
