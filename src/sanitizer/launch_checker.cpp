// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/launch_checker.h"

#include <algorithm>
#include <bit>

namespace us::sanitizer {

void Cta::clear() {
  shared.clear();
  for (NamedBarrier& b : barriers) b.clear();
  linear = threads = live_warps = 0;
  together = false;
  begun = ended = false;
  shared_known = 1, known = known_end = own = copies_known = 0;
  settled = looked = 0;
  plain = quiet = false, met = told = 0, barrier = {};
  exits.clear(), parted.reset(), mbarriers.clear(), visits.clear(), sums.clear(), copied.clear();
  agents = kFirstAgent, grid_wait = 0;
  most_visits = kVisits, cluster_left = 0;
}

void Warp::arrived_at(u32 site, u32 lane, u64 address) {
  auto at = std::ranges::find(arrivals, site, &Arrivals::site);
  if (at == arrivals.end()) {
    arrivals.emplace_back().site = site;
    at = arrivals.end() - 1;
    at->address.fill(kNowhere);
  }
  at->address[lane] = address;
}

u64 Warp::last_arrival(u32 site, u32 lane) const {
  const auto at = std::ranges::find(arrivals, site, &Arrivals::site);
  return at == arrivals.end() ? kNowhere : at->address[lane];
}

void Cluster::clear() {
  segments.clear();
  for (auto& c : ctas)
    if (c) c->clear(), spare.push_back(std::move(c));
  ctas.clear();
  for (Arriving& a : arriving) a = {};
  ended = 0, deliveries = 0;
}

LaunchChecker::LaunchChecker(Process& p, std::shared_ptr<const probe::LaunchInfo> info)
    : process_(p), info_(std::move(info)), launch_(static_cast<u32>(info_->id)), sites_(info_->sites) {
  cluster_size_ = std::max(1u, info_->cluster[0] * info_->cluster[1] * info_->cluster[2]);
  for (const probe::Symbol& s : info_->symbols) {
    if (s.space == probe::Space::Shared && s.bytes) shared_symbols_.push_back(s);
    p.allocations.variable(s);
  }
  std::sort(shared_symbols_.begin(), shared_symbols_.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
}

// When it runs, not when it is submitted: by then those before it have ended.
void LaunchChecker::begins() {
  Process& p = process_;
  began_ = true;
  if (p.running) {
    p.reads.ended_to_planes(p.global.planes(), [](u64) { return true; });
    p.reads.to_planes(p.global.planes());
  }
  p.running++, p.begun++, began_as_ = ++p.launches_begun;
  p.changes.note();
  p.changes.tell(sites_);
  floor_ = p.segments.next();
  for (const auto& [launch, first] : p.first_segment) {
    if (p.order->before(launch, info_->id, !info_->dependent)) continue;
    after_all_ = false;
    floor_ = {std::min(floor_.warps, first.warps), std::min(floor_.copies, first.copies)};
  }
  count_anew();
  p.first_segment[info_->id] = p.segments.next();
  if (p.first_segment.size() > 256) p.first_segment.erase(p.first_segment.begin());
  expect_stores();
  p.reads.ended_to_planes(p.global.planes(),
                          [&](u64 at) { return !expects_ || std::ranges::find(stored_, at) != stored_.end(); });
}

// A launch that is not ordered behind one that has ended by now does not meet its accesses any more.
void LaunchChecker::count_anew() {
  Process& p = process_;
  const u32 many = std::max(floor_.warps, floor_.of_copies());
  if (!after_all_ || p.running != 1 || many < p.most_segments) return;
  p.allocations.each_live([&](const Allocations::Block& b) { p.global.age_planes(b.begin, b.bytes); });
  p.global.age();
  p.reads.forget_ended();
  p.segments.clear();
  p.first_segment.clear();
  p.last_cta = ~u64{0};
  floor_ = p.segments.next();
}

void LaunchChecker::ended() {
  std::vector<Touched> all;
  {
    const std::lock_guard held(process_.lock);
    process_.changes.leave(sites_);
    if (began_) process_.running--, all = touched();
    end_sums(sums_, nullptr);
  }
  if (process_.on_touched) process_.on_touched(*info_, all);
}

// Made when it is first heard of: events of a peer may come before its begin.
Cta& LaunchChecker::cta_of(Cluster& cluster, const probe::Who& who, u32 rank) {
  auto& slot = cluster.ctas[rank];
  if (!slot) {
    if (cluster.spare.empty()) {
      slot = std::make_unique<Cta>(cluster.segments);
    } else {
      slot = std::move(cluster.spare.back());
      cluster.spare.pop_back();
    }
    slot->shared.set_planes(spare_planes());
    slot->linear = rank == who.rank ? who.cta : ~0u - rank;
    slot->key = key(slot->linear);
    slot->rank = rank;
    slot->place = {.cta = slot->key, .cluster = who.cluster, .device = info_->device, .domain = info_->domain};
  }
  return *slot;
}

LaunchChecker::At LaunchChecker::at(const probe::Who& who) {
  const At p = find(who);
  p.warp->ordinary.forget();
  p.warp->special = true, p.warp->ordinary.ends_untold = 0;
  return p;
}

// What it does next is judged as before, though it is no more an ordinary warp.
LaunchChecker::At LaunchChecker::not_ordinary(const probe::Who& who) {
  const At p = find(who);
  p.warp->special = true, p.warp->ordinary.ends_untold = 0;
  return p;
}

LaunchChecker::At LaunchChecker::usual(const probe::Who& who) {
  const At p = find(who);
  p.warp->ordinary.forget();
  return p;
}

Cluster& LaunchChecker::cluster_of(const probe::Who& who) {
  if (who.cluster == solo_number_) return *solo_;
  const auto found = clusters_.empty() ? clusters_.end() : clusters_.find(who.cluster);
  if (found != clusters_.end()) return *found->second;
  if (solo_ && solo_number_ == kNobody) {
    solo_number_ = who.cluster;
    (solo_->ctas[0]->plain ? rename(*solo_, who) : renew(*solo_, who));
    return *solo_;
  }
  auto c = spare_cluster_ ? std::move(spare_cluster_) : std::make_unique<Cluster>();
  c->ctas.resize(cluster_size_);
  return *clusters_.emplace(who.cluster, std::move(c)).first->second;
}

const Cluster* LaunchChecker::find_cluster(u64 number) const {
  if (number == solo_number_) return solo_.get();
  const auto found = clusters_.find(number);
  return found == clusters_.end() ? nullptr : found->second.get();
}

// As if it had been made now.
void LaunchChecker::renew(Cluster& cluster, const probe::Who& who) {
  cluster.segments.clear();
  for (Cluster::Arriving& a : cluster.arriving) a = {};
  cluster.ended = 0, cluster.deliveries = 0;
  Cta& cta = *cluster.ctas[0];
  cta.clear();
  Planes p = cta.shared.take_planes();
  p.clear(0, p.bytes());
  cta.shared.set_planes(std::move(p));
  cta.name(launch_, who.cta);
  cta.place.cluster = who.cluster;
  for (u32 n = 0; n < cta.warps.size(); n++) {
    Warp* const w = cta.warps[n].get();
    if (!w) continue;
    if (!w->again(cta.key, who.cluster, n)) std::destroy_at(w), std::construct_at(w, cta.key, who.cluster, n);
    if (!info_->dependent) w->behind_wait = ~0u;
  }
}

// The same, where nothing was told of the CTA before.
void LaunchChecker::rename(Cluster& cluster, const probe::Who& who) {
  Cta& cta = *cluster.ctas[0];
  cta.name(launch_, who.cta);
  cta.place.cluster = who.cluster;
  cta.begun = cta.ended = false;
  cta.own = cta.met = 0, cta.barrier = {};
  for (const auto& w : cta.warps) w->time.rename(cta.key, who.cluster), w->ordinary.global.at = 0;
}

Cta& LaunchChecker::block(const probe::Who& who) {
  if (!began_) begins();
  if (who.cluster != last_cluster_ || !cluster_) cluster_ = &cluster_of(who), last_cluster_ = who.cluster;
  Cta& cta = cta_of(*cluster_, who, std::min(who.rank, cluster_size_ - 1));
  if (cta.linear != who.cta) cta.name(launch_, who.cta);  // a peer has touched it before
  return cta;
}

LaunchChecker::At LaunchChecker::find(const probe::Who& who) {
  Cta& block_of = block(who);
  At p{.cluster = cluster_, .cta = &block_of};
  p.cta->stir(), p.cta->plain = false;
  p.warp = &warp_of(block_of, who.cluster, who.warp);
  if (who.live) p.warp->time.set_live(who.live);
  return p;
}

Warp& LaunchChecker::warp_of(Cta& cta, u64 cluster, u32 number) {
  if (number >= cta.warps.size()) cta.warps.resize(number + 1);
  auto& w = cta.warps[number];
  if (!w) {
    w = new_warp(cta.key, cluster, number);
    if (!info_->dependent) w->behind_wait = ~0u;
  }
  return *w;
}

std::unique_ptr<Warp> LaunchChecker::new_warp(u64 cta, u64 cluster, u32 number) {
  if (spare_warps_.empty()) return std::make_unique<Warp>(cta, cluster, number);
  std::unique_ptr<Warp> w = std::move(spare_warps_.back());
  spare_warps_.pop_back();
  if (w->again(cta, cluster, number)) return w;
  std::destroy_at(w.get());
  std::construct_at(w.get(), cta, cluster, number);
  return w;
}

Planes LaunchChecker::spare_planes() {
  Planes p;
  if (spare_.empty()) {
    const u32 bytes = kReserved + info_->shared_static + info_->shared_dynamic;
    p.reserve(0, (bytes + 3) & ~u32{3});  // the last word whole
    return p;
  }
  p = std::move(spare_.back());
  spare_.pop_back();
  p.clear(0, p.bytes());
  return p;
}

bool LaunchChecker::spent(const At& p) {
  const bool now = process_.segments.full() || p.cluster->segments.full();
  process_.spent = process_.spent || now;
  return now;
}

void LaunchChecker::cta_begins(const probe::Who& who, u32 threads) {
  const std::lock_guard held(process_.lock);
  Cta& cta = block(who);
  cta.stir();
  cta.threads = threads, cta.begun = true;
  if (cta.plain) return;
  for (u32 n = 0; n * 32 < threads; n++) {
    Warp& w = warp_of(cta, who.cluster, n);
    w.ordinary.forget();
    w.time.set_live(threads - n * 32 >= 32 ? ~0u : (1u << (threads - n * 32)) - 1);
  }
}

void LaunchChecker::cta_ends(const probe::Who& who) {
  const std::lock_guard held(process_.lock);
  if (Cta& cta = block(who); cta.plain && cluster_ == solo_.get()) {
    cta.ended = true, solo_number_ = kNobody, cluster_ = nullptr, last_cluster_ = ~u64{0};
    return;
  }
  const At p = usual(who);
  mbarriers_at_end(*p.cta);
  end_sums(p.cta->sums, p.cta);
  registers_at_end(*p.cta);
  leave_cluster(p, who);
  p.cta->ended = true;
  p.cta->shared.set_memory({});
  if (cluster_size_ == 1 && (solo_number_ == kNobody || solo_number_ == who.cluster)) {
    if (solo_number_ == kNobody && !solo_) {
      const auto found = clusters_.find(who.cluster);
      solo_ = std::move(found->second);
      clusters_.erase(found);
    }
    if (solo_.get() == p.cluster) {
      solo_number_ = kNobody, cluster_ = nullptr, last_cluster_ = ~u64{0};
      return;
    }
  }
  for (auto& w : p.cta->warps)
    if (w) spare_warps_.push_back(std::move(w));
  p.cta->warps.clear();
  p.cta->mbarriers.clear();
  if (++p.cluster->ended < cluster_size_) return;
  for (const auto& c : p.cluster->ctas) {
    if (c) spare_.push_back(c->shared.take_planes());
  }
  const auto gone = clusters_.find(who.cluster);
  spare_cluster_ = std::move(gone->second);
  spare_cluster_->clear();
  clusters_.erase(gone);
  cluster_ = nullptr, last_cluster_ = ~u64{0};
}

void LaunchChecker::exits(const probe::Who& who) {
  const std::lock_guard held(process_.lock);
  const At p = usual(who);
  p.warp->exited |= who.lanes;
  p.warp->missed.missing &= ~who.lanes;
  if (p.cta->exits.empty()) p.cta->exits.reserve(p.cta->warps.size());
  p.cta->exits.push_back({who.warp, who.lanes, who.site});
  copies_at_exit(p, who);
}

void LaunchChecker::tells_host(bool by_fence) {
  bool& already = by_fence ? fenced_for_host_ : told_host_;
  if (!already && process_.on_host_told) process_.on_host_told(info_->id, by_fence);
  already = true;
}

void LaunchChecker::is_told(u64 address) {
  if (!of_host(address) && !process_.words.contains(address)) return;
  if (process_.on_kernel_told) process_.on_kernel_told(info_->id);
  is_told_ = true;
}

void LaunchChecker::fence(const probe::Who& who, const probe::Fence& f) {
  const std::lock_guard held(process_.lock);
  const At p = at(who);
  WarpTime& time = p.warp->time;
  switch (f.kind) {
    case probe::Fence::Kind::Memory:
      if (f.scope == probe::Scope::Sys) tells_host(true);
      for (const auto& w : p.cta->warps)
        if (w && w->order.has_pending()) p.warp->order.borrow(time, who.lanes, w->order, w->time.warp());
      return p.warp->order.fence(time, who.lanes, p.cta->place, f.order, f.scope, who.site);
    case probe::Fence::Kind::ProxyAsync:
      if (f.every_space || f.space == probe::Space::Shared) time.push_shared(who.lanes);
      if (f.every_space || f.space == probe::Space::Global) time.push(who.lanes, kGlobal);
      return;
    case probe::Fence::Kind::MbarrierInit:
      return time.push(who.lanes, kMbarrierInit);
    case probe::Fence::Kind::TensormapAcquire:
      for (u32 rest = f.address ? who.lanes : 0; rest; rest &= rest - 1)
        acquired_maps_.insert(f.address[std::countr_zero(rest)]);
      return time.push(who.lanes, kTensormap);
    case probe::Fence::Kind::WgmmaFence:
      p.warp->wgmma_fence = true;
      if (who.lanes != who.live) not_converged(who, "wgmma.fence");
      return;
    case probe::Fence::Kind::ProxyAlias:
      return time.push(who.lanes, kAlias);
    case probe::Fence::Kind::TensormapRelease:
      return;
  }
}

}  // namespace us::sanitizer
