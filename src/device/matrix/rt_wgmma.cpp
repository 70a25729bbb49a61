// SPDX-License-Identifier: Apache-2.0
// wgmma: how the warps of a warpgroup come together for a product, and when its results are delivered. See warpgroup.h.
#include <fmt/format.h>

#include <algorithm>

#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/schedule/machine.h"

namespace us::device {
namespace {

constexpr u64 kAll = u64(1) << 32;  // beyond the number of any group

u32 place_of(const Warp& w) { return w.warp_id % 4; }
std::unique_ptr<Warpgroup>& group_of(Warp& w) { return w.home->warpgroups[w.warp_id / 4]; }
u32 warps_of_group(const Warp& w) {
  const u32 first = w.warp_id & ~3u;
  return (1u << std::min(4u, w.home->warps - first)) - 1;
}

void read(Warp& w, Wgmma& p) {
  if (p.read) return;
  p.read = true;
  Cta& c = *w.home;
  p.terms.limit = {c.grid->shared_end, false};
  const u8* shared = c.cluster_window + u64(c.cluster_rank) * kCtaSharedStride;
  p.terms.open(p.code, p.code.tile);
  for (u32 k : Lanes(p.came)) p.terms.read_a(k, shared, p.a[k], p.registers[k]);
  for (u32 t = 0; t < p.code.tile; ++t) p.terms.read_b(t, shared, p.b);
  if (p.terms.limit.broken)
    die(w, Outcome::IllegalAddress,
        fmt::format("wgmma.mma_async: a matrix sticks out of the {} bytes of shared memory that the block has",
                    c.grid->shared_end),
        w.live, probe::Refused::MatrixOperand);
}

// The sums of a product go to the next product with the same registers, and wait for wgmma.wait_group to bring them
// there.
void deliver_sum(WgmmaQueue& q, size_t after, u32 key, const u64* sum) {
  std::copy_n(sum, kWarpSize, q.results[key].begin());
  for (size_t n = after; n < q.queue.size(); ++n)
    for (WgmmaQueue::Columns& c : q.queue[n].columns)
      for (u32 e = 0; e < 4; ++e)
        if (c.key[e] == key) {
          if (c.keep) std::copy_n(sum, kWarpSize, c.c + e * kWarpSize);
          return;
        }
}

// Products of groups before this one, in their order.
void deliver(Warp& w, u64 before) {
  WgmmaQueue& q = *w.wgmma;
  while (!q.queue.empty() && q.queue.front().group < before) {
    WgmmaQueue::Product& p = q.queue.front();
    read(w, *p.wgmma);
    for (const WgmmaQueue::Columns& c : p.columns) {
      u64 sums[4 * 32];
      p.wgmma->terms.multiply(place_of(w), c.tile, c.c, sums);
      for (u32 e = 0; e < 4; ++e)
        if (c.key[e] != ~0u) deliver_sum(q, 1, c.key[e], sums + e * kWarpSize);
      for (const auto& [e, key] : c.copies) deliver_sum(q, 1, key, sums + e * kWarpSize);
    }
    q.queue.pop_front();
  }
}

std::shared_ptr<Wgmma> fresh(Warpgroup& g) {
  for (const auto& p : g.made)
    if (p.use_count() == 1) return p;
  return g.made.emplace_back(std::make_shared<Wgmma>());
}

// All warps have come.
void start(Warp& w, Warpgroup& g) {
  Cta& c = *w.home;
  Wgmma& p = *g.gathering;
  if (!p.code.late)
    read(w, p);
  else
    p.now = machine_of(w).options.async.delivery == AsyncDelivery::Random && next_random(*c.slot) % 2;
  c.ready |= g.waiting;
  g.waiting = 0;
  c.slot->events++;
  g.gathering.reset();
}

void wait_for_others(Warp& w, Warpgroup& g, u32 mask) {
  if (!w.on_fibre)
    die(w, Outcome::NotSupported, "internal: a kernel that was compiled as never blocking waits for a warpgroup", mask);
  g.waiting |= 1u << w.warp_id;
  w.home->ready &= ~(1u << w.warp_id);
  w.wait = Wait::Warpgroup;
  w.wait_mask = mask;
  worker_of(w).leave(w);
  w.wait = Wait::None;
}
}  // namespace

std::string warpgroup_state(Warp& w) {
  const Warpgroup& g = *group_of(w);
  std::string missing;
  for (u32 k : Lanes(warps_of_group(w) & ~(g.gathering ? g.gathering->came : 0)))
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", (w.warp_id & ~3u) + k);
  return "wgmma.mma_async of its warpgroup: missing warps " + missing;
}

void rt_WgmmaIssue(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<WgmmaIssueArgs>(args);
  const u32 lane = first_lane(mask), place = place_of(w);
  auto& g = group_of(w);
  if (!g) g = std::make_unique<Warpgroup>();
  if (!w.wgmma) w.wgmma = std::make_unique<WgmmaQueue>();
  w.wgmma->last.reset();
  const MmaCode code = MmaCode::unpack(a.code[lane]);
  if (!g->gathering) {
    g->gathering = fresh(*g);
    g->gathering->code = code;
    g->gathering->came = 0;
    g->gathering->read = g->gathering->now = false;
    g->gathering->b = a.b[lane];
  }
  Wgmma& p = *g->gathering;
  if (p.code.pack() != code.pack())
    die(w, Outcome::IllegalInstruction, "wgmma.mma_async: the warps of a warpgroup execute different ones", mask,
        probe::Refused::Warpgroup);
  p.a[place] = a.a[lane];
  std::copy_n(a.registers[0].lane, 5 * kWarpSize, p.registers[place]);
  if (w.listener) tell_wgmma_issue(w, mask, code, a.a[lane], a.b[lane], p.registers[place]);
  p.came |= 1u << place;
  w.wgmma->last = g->gathering;
  if (p.came == warps_of_group(w))
    start(w, *g);
  else
    wait_for_others(w, *g, mask);
  if (p.now) deliver(w, kAll);
}

// Eight columns. a.c: registers of c; late: their keys, whether c counts
void rt_Wgmma(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<WgmmaArgs>(args);
  const u32 lane = first_lane(mask);
  const MmaCode code = MmaCode::unpack(a.code[lane]);
  WgmmaQueue& q = *w.wgmma;
  Wgmma& p = *q.last;
  const u32 each = code.c == numerics::MmaType::F16 ? 2 : 4;
  if (!code.late) return p.terms.multiply(place_of(w), code.tile, a.c[0].lane, results);
  WgmmaQueue::Columns columns{code.tile, (a.c[2 * each][lane] & 1) != 0, {~0u, ~0u, ~0u, ~0u}, {}, {}};
  if (columns.keep) std::copy_n(a.c[0].lane, each * kWarpSize, columns.c);
  for (u32 e = 0; e < each; ++e) {
    const u32 key = columns.key[e] = u32(a.c[each + e][lane]);
    const auto ahead = q.results.find(key);
    if (ahead == q.results.end()) continue;
    if (columns.keep) std::copy_n(ahead->second.begin(), kWarpSize, columns.c + e * 32);
    q.results.erase(ahead);
  }
  if (p.now) {
    read(w, p);
    return p.terms.multiply(place_of(w), code.tile, columns.c, results);
  }
  std::copy_n(a.c[0].lane, each * kWarpSize, results);  // as they were
  if (q.queue.empty() || q.queue.back().wgmma != q.last) q.queue.push_back({q.last, ~0u, {}});
  q.queue.back().columns.push_back(columns);
}

void rt_WgmmaCommit(WarpCtx* ctx, u32 mask, const u64*, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (w.listener) tell_wgmma(w, mask, probe::Matrix::Kind::Commit, 0);
  if (!w.wgmma) return;
  for (WgmmaQueue::Product& p : w.wgmma->queue)
    if (p.group == ~0u) p.group = w.wgmma->groups;
  w.wgmma->groups++;
}

void rt_WgmmaWait(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const u64 pending = named<WgmmaWaitArgs>(args).n[first_lane(mask)];
  if (w.listener && pending != ~u64(0)) tell_wgmma(w, mask, probe::Matrix::Kind::Wait, u32(pending));
  if (!w.wgmma) return;
  if (pending == ~u64(0))
    deliver(w, kAll);  // before a call
  else if (w.wgmma->groups > pending)
    deliver(w, w.wgmma->groups - pending);
}

void rt_WgmmaMoved(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<WgmmaMovedArgs>(args);
  if (!w.wgmma) return;
  const u32 lane = first_lane(mask), to = u32(a.to[lane]), from = u32(a.from[lane]);
  WgmmaQueue& q = *w.wgmma;
  for (auto p = q.queue.rbegin(); p != q.queue.rend(); ++p)
    for (WgmmaQueue::Columns& c : p->columns)
      for (u32 e = 0; e < 4; ++e)
        if (c.key[e] == from) return c.copies.push_back({e, to});
  if (const auto r = q.results.find(from); r != q.results.end()) {
    const auto value = r->second;
    q.results[to] = value;
  }
}

void rt_WgmmaResults(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<WgmmaResultsArgs>(args);
  constexpr u32 n = 8;
  const u32 lane = first_lane(mask);
  std::copy_n(a.old[0].lane, n * kWarpSize, results);
  if (!w.wgmma || w.wgmma->results.empty()) return;
  for (u32 e = 0; e < n; ++e)
    if (const auto r = w.wgmma->results.find(u32(a.key[e][lane])); r != w.wgmma->results.end()) {
      std::copy_n(r->second.begin(), kWarpSize, results + e * 32);
      w.wgmma->results.erase(r);
    }
}

}  // namespace us::device
