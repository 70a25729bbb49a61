// SPDX-License-Identifier: Apache-2.0
#include "device/schedule/slot.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "device/probe/tell.h"
#include "device/schedule/machine.h"
#include "device/schedule/report.h"

namespace us::device {
namespace {
u8* map(Slot& s, u64 bytes) {
  if (memory::AddressSpace* space = s.worker->machine.options.space) {
    const u64 at = space->map_window(bytes);
    US_CHECK(at != 0);
    return reinterpret_cast<u8*>(at);
  }
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  US_CHECK(p != MAP_FAILED);
  return static_cast<u8*>(p);
}
void unmap(Slot& s, u8* at, u64 bytes) {
  if (!at) return;
  if (memory::AddressSpace* space = s.worker->machine.options.space)
    space->give_window(reinterpret_cast<u64>(at), bytes);
  else
    munmap(at, bytes);
}

// Lanes lie `stride` apart; a multiple of a page would put them all into the same sets of the host's caches.
u64 local_stride(const KernelCode& code, u32 stack) {
  u64 dynamic = code.local_dynamic ? std::max(code.local_dynamic, stack) : 0;
  u64 bytes = u64(code.local_bytes) + dynamic;
  if (bytes) bytes += kLocalBefore + kLocalBehind;
  u64 stride = (bytes + 15) & ~u64(15);
  return stride % 1024 == 0 && stride ? stride + 64 : stride;
}

void set_constants(Warp& w, Cta& c, u32 warp, u8* local, u64 stride) {
  const Slot& s = *c.slot;
  w.cta = &c, w.home = &c;
  w.grid = c.grid;
  w.rt = rt_table(), w.num = num_table();
  w.window = s.window;
  w.shared_base = u32(c.cluster_rank * kCtaSharedStride);
  w.warp_id = warp;
  w.local = local + kLocalBefore, w.local_stride = stride;
  probe::Listener* listener = s.grid->launch->listener.get();
  w.counts = listener ? listener->counts(s.worker->index) : nullptr;
  w.records = listener ? listener->records(s.worker->index) : nullptr;
  w.listener = s.grid->listener;
  if (w.listener && !w.told) w.told = std::make_unique<Told>();
  if (w.listener) w.told->copies = true;  // of a launch that nobody heard: its groups go when the warp begins
}
}  // namespace

Warp::Warp() = default;
Warp::~Warp() = default;

u32 lanes_of_warp(const Grid& g, u32 warp) {
  u32 left = g.cta_threads - warp * kWarpSize;
  return left >= kWarpSize ? kFullMask : (1u << left) - 1;
}

void bind(Slot& s, Worker& worker, const std::shared_ptr<Grid>& g) {
  if (s.grid == g) return;
  open_shared(s);
  s.grid = g;
  s.worker = &worker;
  if (!s.window) s.window = map(s, kMaxCluster * kCtaSharedStride);
  u64 stride = local_stride(*g->launch->code, g->launch->stack_bytes), warp_local = stride * kWarpSize;
  u64 need = warp_local * g->cta_warps * g->cluster_ctas;
  if (need > s.local_bytes) {
    unmap(s, s.local, s.local_bytes);
    s.local = map(s, need), s.local_bytes = need;
  }
  const GridCtx& ctx = g->launch->ctx;
  while (s.cta.size() < g->cluster_ctas) s.cta.push_back(std::make_unique<Cta>());
  for (u32 r = 0; r < g->cluster_ctas; ++r) {
    Cta& c = *s.cta[r];
    c.slot = &s;
    c.grid = &ctx;
    c.cluster_window = s.window;
    c.cluster_rank = r;
    c.cluster_ctaid = {r % ctx.cluster.x, r / ctx.cluster.x % ctx.cluster.y, r / (ctx.cluster.x * ctx.cluster.y)};
    c.warps = g->cta_warps, c.threads = g->cta_threads;
    while (c.warp.size() < g->cta_warps) c.warp.push_back(std::make_unique<Warp>());
    for (u32 k = 0; k < g->cta_warps; ++k)
      set_constants(*c.warp[k], c, k, s.local + (u64(r) * g->cta_warps + k) * warp_local, stride);
  }
}

void place(Slot& s, u64 cluster) {
  const Grid& g = *s.grid;
  const Dim3& n = g.cluster_grid;
  u32 x = u32(cluster), y = 0, z = 0;
  if (n.y != 1 || n.z != 1) x = u32(cluster % n.x), y = u32(cluster / n.x % n.y), z = u32(cluster / (u64(n.x) * n.y));
  s.cluster = cluster;
  // What a cluster before left when its launch failed, or when it never waited for its barrier.
  s.queue.clear();
  if (s.worker->machine.options.async.delivery != AsyncDelivery::Eager)
    for (const auto& c : s.cta)
      for (const auto& w : c->warp) w->tickets[0].clear(), w->tickets[1].clear();
  s.cluster_missing = s.cluster_phases = 0;
  s.random = (s.worker->machine.options.async.seed + cluster) * 0x9e3779b97f4a7c15ull | 1;
  const Dim3& size = g.launch->ctx.cluster;
  for (u32 r = 0; r < g.cluster_ctas; ++r) {
    Cta& c = *s.cta[r];
    c.ctaid = {x * size.x + c.cluster_ctaid.x, y * size.y + c.cluster_ctaid.y, z * size.z + c.cluster_ctaid.z};
    c.triggered = false;
    if (!c.warp.empty() && c.warp.front()->records) {
      const u64 linear = linear_in_grid(c);
      probe::Unheard* const unheard = g.launch->listener->unheard(s.worker->index, u32(linear));
      for (u32 k = 0; k < c.warps; ++k)
        c.warp[k]->record = probe::record_of_warp(linear, k), c.warp[k]->unheard = unheard;
    }
    const u64 number = cluster * g.cluster_ctas + r;
    const auto& sms = g.launch->sms;
    c.smid = sms ? (*sms)[number % sms->size()] : u32(number % s.worker->machine.options.sms);
  }
}

void reset(Warp& w, u32 spin_budget) {
  w.live = w.seen_live = lanes_of_warp(*w.home->slot->grid, w.warp_id);
  w.spin = spin_budget;
  w.local_top = 0;
  w.ended = false;
  w.wait = Wait::None;
  w.failing_tests = w.gave_way = 0;
  w.idle_arrivals = 0;
  w.quiet_polls = w.polled_lanes = 0;
  w.read_clock = false;
  w.cluster_arrived = 0;
  w.cluster_counted = false;
  if (w.stack_touched) std::fill_n(w.stack_used, kWarpSize, 0u);
  w.stack_touched = false;
  if (w.wgmma) {
    w.wgmma->clear();
    Warpgroup& g = *w.home->warpgroups[w.warp_id / 4];
    g.gathering.reset();
    g.waiting = 0;
  }
  if (w.listener) begin_telling(w);
}

void close_shared(Cta& c) {
  Slot& s = *c.slot;
  US_CHECK(mprotect(s.window + c.cluster_rank * kCtaSharedStride, kCtaSharedStride, PROT_NONE) == 0);
  s.closed |= 1u << c.cluster_rank;
}

void open_shared(Slot& s) {
  if (!s.closed) return;
  US_CHECK(mprotect(s.window, kMaxCluster * kCtaSharedStride, PROT_READ | PROT_WRITE) == 0);
  s.closed = 0;
}

const Cta* closed_cta(const Slot& s, const void* address) {
  const u64 offset = std::bit_cast<u64>(address) - std::bit_cast<u64>(s.window);
  const u64 rank = offset / kCtaSharedStride;
  return offset < kMaxCluster * kCtaSharedStride && (s.closed >> rank & 1) ? s.cta[rank].get() : nullptr;
}

void free_memory(Slot& s) {
  unmap(s, s.window, kMaxCluster * kCtaSharedStride);
  unmap(s, s.local, s.local_bytes);
  s.window = s.local = nullptr;
}

}  // namespace us::device
