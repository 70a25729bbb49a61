// SPDX-License-Identifier: Apache-2.0
#include "sanitizer_engine/sim.h"

#include <algorithm>
#include <set>

#include "sanitizer_engine/in_place.h"

namespace us::sanitizer::test {

using probe::Access;
using probe::Copies;
using probe::Fence;
using probe::Mbarrier;
using probe::Meeting;
using probe::Transfer;

Sim::Sim(Shape s) : shape(std::move(s)) {
  checker.set_memory(u64{1} << 40, u64{1} << 24, {});
  begin();
}

void Sim::begin() {
  info = {};
  static u64 ids = 0;
  info.id = ++ids;
  info.kernel = "kernel";
  info.grid[0] = shape.ctas, info.block[0] = shape.threads, info.cluster[0] = shape.cluster;
  info.shared_static = shape.shared, info.local_bytes = 256;
  info.domain = shape.domain, info.dependent = shape.dependent;
  info.barriers_only = shape.barriers_only;
  info.sites = 1024;
  info.symbols = shape.symbols;
  info.stored_to = shape.stored_to;
  info.site = [](u32 n) {
    probe::SiteInfo i;
    i.frames.push_back({.file = "test.cu", .line = n, .column = 1, .function = "kernel"});
    return i;
  };
  listener = checker.launch(info);
  live_.clear();
  const u32 warps = (shape.threads + 31) / 32;
  for (u32 c = 0; c < shape.ctas; c++) {
    live_.emplace_back(warps, ~0u);
    if (shape.threads % 32) live_.back().back() = (1u << (shape.threads % 32)) - 1;
  }
  barriers_.assign(shape.ctas, std::vector<Meter>(16));
  cluster_generation_.assign(shape.ctas / shape.cluster + 1, 0);
  for (u32 c = 0; c < shape.ctas && !shape.in_turns; c++) {
    const probe::Who w{.cluster = c / shape.cluster, .cta = c, .rank = c % shape.cluster, .live = live_[c][0]};
    listener->cta_begins(w, shape.threads);
  }
}

Sim& Sim::next(Shape s) {
  listener->ended();
  quick_.clear();
  shape = std::move(s);
  begin();
  return *this;
}

Sim& Sim::barrier(u32 cta, u32 id) {
  std::vector<u32> all;
  for (u32 w = 0; w < live_[cta].size(); w++) {
    if (live_[cta][w]) all.push_back(w);
  }
  const u32 threads = shape.threads;
  const bool whole = all.size() * 32 >= threads && live_[cta].back() == (threads % 32 ? (1u << threads % 32) - 1 : ~0u);
  probe::Who who{.cluster = cta / shape.cluster, .cta = cta, .rank = cta % shape.cluster};
  who.site = 900;
  if (const auto q = quick_.find({cta, 0}); q != quick_.end() && q->second && whole && id == 0) {
    probe::QuickBarrier& b = *q->second->barrier;
    if (b.passed < b.until) return b.passed++, barriers_[cta][id].generation++, *this;
  }
  if (whole && id == 0 && listener->all_meet(who, barriers_[cta][id].generation)) {
    barriers_[cta][id].generation++;
    return *this;
  }
  for (u32 w : all) warp(w, cta).at(900).arrive(id);
  const Meeting done{.kind = Meeting::Kind::BarrierDone, .id = id, .generation = barriers_[cta][id].generation};
  listener->meeting({.cluster = cta / shape.cluster, .cta = cta, .rank = cta % shape.cluster}, done);
  for (u32 w : all) warp(w, cta).at(900).leave(id);
  barriers_[cta][id].generation++;
  return *this;
}

Sim& Sim::named(u32 id, std::vector<u32> sync, std::vector<u32> arrive, u32 cta) {
  const u32 threads = static_cast<u32>(sync.size() + arrive.size()) * 32;
  for (u32 w : arrive) warp(w, cta).at(901).arrive(id, threads, true);
  for (u32 w : sync) warp(w, cta).at(902).arrive(id, threads);
  Meeting done{.kind = Meeting::Kind::BarrierDone, .id = id, .generation = barriers_[cta][id].generation};
  done.threads = threads;
  listener->meeting({.cluster = cta / shape.cluster, .cta = cta, .rank = cta % shape.cluster}, done);
  for (u32 w : sync) warp(w, cta).at(902).leave(id, threads);
  barriers_[cta][id].generation++;
  return *this;
}

Sim& Sim::cluster_sync(bool relaxed) {
  for (u32 c = 0; c < shape.ctas; c++) {
    for (u32 w = 0; w < live_[c].size(); w++) warp(w, c).cluster_arrive(relaxed);
  }
  for (u32 c = 0; c < shape.ctas; c++) {
    for (u32 w = 0; w < live_[c].size(); w++) warp(w, c).cluster_wait();
  }
  for (u32& g : cluster_generation_) g++;
  return *this;
}

Sim& Sim::begin_cta(u32 cta) {
  const probe::Who who{.cluster = cta, .cta = cta};
  listener->cta_begins(who, shape.threads);
  std::vector<probe::Quick*> all(live_[cta].size(), nullptr);
  listener->quick_all(who, static_cast<u32>(all.size()), all.data());
  for (u32 w = 0; w < all.size(); w++) quick_[{cta, w}] = all[w];
  return *this;
}

Sim& Sim::end_cta(u32 cta) {
  std::erase_if(quick_, [&](const auto& q) { return q.first.first == cta; });
  listener->cta_ends({.cluster = cta / shape.cluster, .cta = cta, .rank = cta % shape.cluster});
  return *this;
}

Sim& Sim::allocate(u64 begin, u64 bytes, bool written) {
  checker.memory({.kind = probe::Memory::Kind::Allocated, .begin = begin, .bytes = bytes});
  probe::Work w;
  w.writes = {{Space::Global, begin, bytes}};
  if (written) {
    checker.work(w);
    w.kind = probe::Work::Kind::Complete;
    checker.work(w);
  }
  return *this;
}

Sim& Sim::free(u64 begin, u64 bytes) {
  checker.memory({.kind = probe::Memory::Kind::Freed, .begin = begin, .bytes = bytes});
  return *this;
}

const std::vector<Finding>& Sim::findings() {
  for (Finding& f : checker.take()) findings_.push_back(std::move(f));
  return findings_;
}

std::string Sim::names(bool errors_only) {
  std::set<std::string> names;
  for (const Finding& f : findings()) {
    const CheckInfo& i = sanitizer::info(f.check);
    if (!errors_only || i.severity == Severity::Error) names.insert(i.name);
  }
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : " ") + n;
  return text;
}

probe::Who Lanes::who() const {
  const u32 size = sim_.shape.cluster;
  return {.cluster = cta_ / size,
          .cta = cta_,
          .rank = cta_ % size,
          .warp = warp_,
          .lanes = lanes_,
          .live = sim_.live_[cta_][warp_],
          .site = site_};
}

void Lanes::each(const std::function<void(const probe::Who&, u32 lane)>& f) {
  for (u32 rest = lanes_; rest; rest &= rest - 1) {
    Lanes one(sim_, cta_, warp_, rest & -rest);
    one.at(site_);
    f(one.who(), static_cast<u32>(std::countr_zero(rest)));
  }
}

Lanes& Lanes::access(Access::Kind kind, Space space, u64 address, u32 bytes, u64 stride, Order order, Scope scope,
                     bool nc) {
  std::vector<u64> addresses(32);
  if (space == Space::Shared && address < probe::kCtaStride) address += (cta_ % sim_.shape.cluster) * probe::kCtaStride;
  for (u32 l = 0; l < 32; l++) addresses[l] = address + l * stride;
  Access a;
  a.kind = kind, a.space = space, a.order = order, a.scope = scope, a.nc = nc, a.bytes = bytes,
  a.address = addresses.data();
  sim_.tell(who(), a, stride);
  return *this;
}

Lanes& Lanes::halves(Access::Kind kind, u64 low, u64 high, u32 bytes) {
  u64 addresses[32];
  for (u32 l = 0; l < 32; l++) addresses[l] = (l < 16 ? low : high) + u64{l % 16} * bytes;
  Access a;
  a.kind = kind, a.space = Space::Global, a.bytes = bytes, a.address = addresses;
  sim_.tell(who(), a, Sim::kNoStride);
  return *this;
}

// As compiled code does: ordinary accesses by their addresses alone first, then what is left.
void Sim::tell(const probe::Who& who, const Access& a, u64 stride) {
  auto& quick = quick_[{who.cta, who.warp}];
  const bool small = a.bytes == 4 || a.bytes == 8 || a.bytes == 16;
  const bool ordinary = a.order == Order::Weak && a.kind != Access::Kind::Atomic && small &&
                        (a.space == Space::Global || a.space == Space::Shared);
  if (quick && ordinary && who.site != probe::kNoSite) {
    const u32 code = probe::QuickAccess{.bytes = static_cast<u8>(a.bytes),
                                        .write = a.kind == Access::Kind::Write,
                                        .shared = a.space == Space::Shared,
                                        .detail = a.nc}
                         .pack();
    const bool row = stride == a.bytes, same = stride == 0;
    const auto form = probe::QuickAccess::unpack(code);
    const bool judged =
        in_place && (row || same ? judged_in_place(*quick, who.lanes, who.site, form, same, a.address[0])
                                 : halves_judged_in_place(*quick, who.lanes, who.site, form, a.address));
    if (judged) {
      quick_settled++, in_place_++;
      return;
    }
    const u32 left = row    ? quick->row(quick, who.lanes, who.site, code, a.address[0])
                     : same ? quick->same(quick, who.lanes, who.site, code, a.address[0])
                            : quick->lanes(quick, who.lanes, who.site, code, a.address);
    quick_settled += left == 0;
    if (left == 0) return;
  }
  listener->access(who, a);
  if (!quick) quick = listener->quick(who);
}

Lanes& Lanes::load(Space s, u64 a, u32 bytes, u64 stride, Order o, Scope c) {
  return access(Access::Kind::Read, s, a, bytes, stride, o, c);
}
Lanes& Lanes::store(Space s, u64 a, u32 bytes, u64 stride, Order o, Scope c) {
  return access(Access::Kind::Write, s, a, bytes, stride, o, c);
}
Lanes& Lanes::load_nc(u64 a) {
  return access(Access::Kind::Read, Space::Global, a, 4, 0, Order::Weak, Scope::Sys, true);
}
Lanes& Lanes::atomic(Space s, u64 a, Order o, Scope c, u32 bytes) {
  return access(Access::Kind::Atomic, s, a, bytes, 0, o, c);
}

Lanes& Lanes::store_value(Space space, u64 address, std::vector<u64> of_lanes) {
  std::vector<u64> addresses(32, address);
  of_lanes.resize(32);
  const u64* values[1] = {of_lanes.data()};
  Access a;
  a.kind = Access::Kind::Write, a.space = space, a.address = addresses.data(), a.values = values;
  sim_.listener->access(who(), a);
  return *this;
}

Lanes& Lanes::fence(Order o, Scope s) { return sim_.listener->fence(who(), {.order = o, .scope = s}), *this; }
Lanes& Lanes::proxy_fence() { return fence_as(Fence::Kind::ProxyAsync); }
Lanes& Lanes::proxy_fence(Space s) {
  return sim_.listener->fence(who(), {.kind = Fence::Kind::ProxyAsync, .every_space = false, .space = s}), *this;
}
Lanes& Lanes::fence_as(Fence::Kind k) { return sim_.listener->fence(who(), {.kind = k}), *this; }

Lanes& Lanes::sync(u32 members) {
  return sim_.listener->meeting(who(), {.kind = Meeting::Kind::WarpSync, .members = members ? members : lanes_}), *this;
}

Lanes& Lanes::arrive(u32 id, u32 threads, bool only) {
  const u32 g = sim_.barriers_[cta_][id].generation;
  return sim_.listener->meeting(who(), {.kind = Meeting::Kind::BarrierArrive,
                                        .id = id,
                                        .generation = g,
                                        .threads = threads,
                                        .arrive_only = only,
                                        .aligned = true}),
         *this;
}

Lanes& Lanes::leave(u32 id, u32 threads) {
  const u32 g = sim_.barriers_[cta_][id].generation;
  return sim_.listener->meeting(who(),
                                {.kind = Meeting::Kind::BarrierLeave, .id = id, .generation = g, .threads = threads}),
         *this;
}

Lanes& Lanes::cluster_arrive(bool relaxed) {
  const u32 g = sim_.cluster_generation_[cta_ / sim_.shape.cluster];
  return sim_.listener->meeting(who(), {.kind = Meeting::Kind::ClusterArrive, .generation = g, .relaxed = relaxed}),
         *this;
}

Lanes& Lanes::cluster_wait() {
  const u32 g = sim_.cluster_generation_[cta_ / sim_.shape.cluster];
  return sim_.listener->meeting(who(), {.kind = Meeting::Kind::ClusterLeave, .generation = g}), *this;
}

Lanes& Lanes::grid_wait() { return sim_.listener->meeting(who(), {.kind = Meeting::Kind::GridWait}), *this; }

Lanes& Lanes::exit() {
  sim_.live_[cta_][warp_] &= ~lanes_;
  return sim_.listener->exits(who()), *this;
}

}  // namespace us::sanitizer::test
