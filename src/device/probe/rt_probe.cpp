// SPDX-License-Identifier: Apache-2.0
// Runtime functions that instrumented code calls beside its instructions.
#include "device/functions/rt.h"
#include "device/probe/tell.h"

namespace us::device {
namespace {

using probe::Range, probe::Space;

constexpr u64 kConstBytes = 64 * 1024;

struct Spot {
  Space space;
  u64 address;
};

// Where a generic address of a lane points.
Spot resolve(const Warp& w, u64 a, u32 lane) {
  const GridCtx& g = *w.grid;
  const auto within = [a](const void* base, u64 bytes) { return base && a - std::bit_cast<u64>(base) < bytes; };
  if (within(w.window, kMaxCluster * kCtaSharedStride)) return {Space::Shared, a - std::bit_cast<u64>(w.window)};
  const u8* const local = w.local + lane * w.local_stride;
  if (w.local_stride && within(local - kLocalBefore, w.local_stride))
    return {Space::Local, a - std::bit_cast<u64>(local)};
  if (within(g.const_bank, kConstBytes)) return {Space::Const, a};
  if (within(g.params, kParamBytes)) return {Space::Param, a - std::bit_cast<u64>(g.params)};
  return {Space::Global, a};
}

// tell(space, lanes, addresses) for each space that the lanes' addresses lie in.
template <class F>
void in_spaces(Warp& w, u32 mask, u8 space, const u64* addresses, F&& tell) {
  u64 at[kWarpSize] = {};
  if (space == AccessCode::kGeneric) {
    constexpr Space all[] = {Space::Global, Space::Shared, Space::Local, Space::Const, Space::Param};
    u32 lanes[5] = {};
    for (u32 l : Lanes(mask)) {
      const Spot s = resolve(w, addresses[l], l);
      lanes[u32(s.space)] |= 1u << l, at[l] = s.address;
    }
    for (const Space s : all)
      if (lanes[u32(s)]) tell(s, lanes[u32(s)], at);
    return;
  }
  if (Space(space) != Space::Const) return tell(Space(space), mask, addresses);
  for (u32 l : Lanes(mask))  // compiled code has the address, the interpreter the offset in the bank
    at[l] = addresses[l] < kConstBytes ? addresses[l] + std::bit_cast<u64>(w.grid->const_bank) : addresses[l];
  tell(Space::Const, mask, at);
}

void tell_prefetch(Warp& w, u32 lane, u64 address, u64 bytes) {
  const Range from[] = {{Space::Global, address, bytes}};
  probe::Transfer t;
  t.kind = probe::Transfer::Kind::Prefetch, t.completion = probe::Transfer::Completion::None;
  t.id = ++w.home->slot->grid->transfers;
  t.from = from;
  w.listener->transfer(who(w, 1u << lane), t);
}

void tell_warp_sync(Warp& w, u32 lanes, const u64* members) {
  Told& t = *w.told;
  const u32 here = lanes;
  if (const u32 told = lanes & t.met) t.met &= ~told, lanes &= ~told;
  while (lanes) {  // all that are named have come, and wait if they are not here
    const u32 l = first_lane(lanes), named = u32(members[l]) & w.live;
    u32 together = named;
    if (!(named >> l & 1)) {  // not named by themselves
      together = 0;
      for (u32 k : Lanes(lanes & ~named)) together |= u32{members[k] == members[l]} << k;
    }
    probe::Meeting m;
    m.kind = MeetingKind::WarpSync;
    m.members = u32(members[l]);
    for (u32 k : Lanes(here & named))
      if (u32(members[k]) != m.members) m.differ = u32(members[k]);
    probe::Who of = who(w, together);
    if (of.site == probe::kNoSite) of.site = t.arrived[l];
    w.listener->meeting(of, m);
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
  e.kind = code.kind, e.order = code.order, e.scope = code.scope;
  const auto is = [&](Space s) { return code.space == u8(s); };
  if (code.sums()) {
    e.sum = probe::Access::Sum(code.detail & ~AccessCode::kSum), e.addend = a.value[2].lane;
  } else {
    e.nc = is(Space::Global) && code.detail, e.settled = is(Space::Shared) ? code.detail : 0;
  }
  e.bytes = code.bytes, e.count = code.count;
  e.values = {rows, code.values};
  e.window = w.window;
  const bool atomic = code.kind == probe::Access::Kind::Atomic, strong = code.order != probe::Order::Weak;
  if (strong && !atomic) {
    w.told->looked = w.probe_site;
    worker_of(w).may_break(w);
    if (code.kind == probe::Access::Kind::Write && !is(Space::Shared)) worker_of(w).let_look(w);
  }
  if (code.kind == probe::Access::Kind::Atomic) {
    e.wrote = 0;
    for (u32 l : Lanes(mask)) e.wrote |= u32(a.value[1][l] & 1) << l;
  }
  const u32 wrote = e.wrote;
  in_spaces(w, mask, code.space, a.addr.lane, [&](Space s, u32 lanes, const u64* at) {
    e.space = s, e.address = at, e.wrote = code.space == AccessCode::kGeneric ? wrote & lanes : wrote;
    w.listener->access(who(w, lanes), e);
  });
  if (w.quick == &probe::no_quick) {
    if (probe::Quick* q = w.listener->quick(who(w, mask))) w.quick = q;
  }
  if (atomic) worker_of(w).may_break(w);
  if (atomic && wrote && !is(Space::Shared)) worker_of(w).let_look(w);
}

void rt_ProbeRecord(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (!w.records) return;
  const auto& a = named<ProbeRecordArgs>(args);
  probe::Record r;
  r.site = w.probe_site;
  r.cta = u32(w.record), r.warp = w.warp_id;
  r.code = probe::RecordCode::unpack(u32(a.code[first_lane(mask)]));
  in_spaces(w, mask, AccessCode::kGeneric, a.addr.lane, [&](Space s, u32 lanes, const u64* at) {
    if (s == Space::Param) return;
    r.code.space = s, r.code.addresses = probe::RecordCode::Addresses::Each;
    r.lanes = lanes, r.each = at;
    probe::write_record(*w.records, r);
  });
}

void rt_ProbeHint(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (!w.listener) return;
  const auto& a = named<ProbeHintArgs>(args);
  const u32 first = first_lane(mask);
  const HintCode code = HintCode::unpack(a.code[first]);
  if (code.bulk) {
    for (u32 l : Lanes(mask)) tell_prefetch(w, l, a.addr[l], a.bytes[l]);
    return;
  }
  probe::Hint h;
  h.kind = code.kind, h.level = code.level, h.bytes = u32(a.bytes[first]);
  in_spaces(w, mask, code.space, a.addr.lane, [&](Space s, u32 lanes, const u64* at) {
    h.space = s, h.address = at;
    w.listener->hint(who(w, lanes), h);
  });
}

void rt_ProbeCollective(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (!w.listener) return;
  const auto& a = named<ProbeCollectiveArgs>(args);
  const CollectiveCode code = CollectiveCode::unpack(a.code[first_lane(mask)]);
  probe::Collective c;
  c.kind = code.kind, c.sync = code.sync;
  if (c.sync) c.members = a.membermask.lane;
  if (c.kind == probe::Collective::Kind::Shuffle) c.source = a.source.lane;
  if (w.probe_site != probe::kNoSite) return w.listener->collective(who(w, mask), c);
  for (u32 left = mask; left;) {  // lanes came from several places
    const u32 site = w.told->arrived[first_lane(left)];
    u32 group = 0;
    for (u32 l : Lanes(left)) group |= u32{w.told->arrived[l] == site} << l;
    left &= ~group;
    probe::Who of = who(w, group);
    of.site = site;
    w.listener->collective(of, c);
  }
}

void rt_ProbeExit(WarpCtx* ctx, u32 mask, const u64*, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (w.listener && mask) tell_exit(w, mask);
}

void rt_ProbeBarrier(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (!w.listener) return;
  const auto& a = named<ProbeBarrierArgs>(args);
  tell_whole_barrier(w, mask, BarrierStep(a.step[0]), a.aligned[0] != 0);
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
    case NoteCode::What::MatrixRows: {
      probe::Hint h;
      h.kind = probe::Hint::Kind::MatrixRow, h.bytes = 16;
      const u32 rows = code.number >= kWarpSize ? ~0u : (1u << code.number) - 1;
      if (!(mask & rows)) return;
      return in_spaces(w, mask & rows, code.space, a.value.lane, [&](Space s, u32 lanes, const u64* at) {
        h.space = s, h.address = at;
        w.listener->hint(who(w, lanes), h);
      });
    }
    case NoteCode::What::Sync:
      w.told->next = code;
      return;
    case NoteCode::What::Arrival:
      for (u32 l : Lanes(mask)) w.told->arrive(l, w.probe_site);
      return;
    case NoteCode::What::Gate:
      if (w.probe_site != probe::kNoSite)
        for (u32 l : Lanes(mask)) w.told->arrive(l, w.probe_site);
      w.told->gated |= mask;
  }
}

}  // namespace us::device
