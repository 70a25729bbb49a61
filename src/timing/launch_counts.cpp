// SPDX-License-Identifier: Apache-2.0
#include "timing/launch_counts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/hash.h"

namespace us::timing {
namespace {

using probe::Record, probe::RecordCode, probe::Space;

constexpr u32 kPlaces = kLineBytes / kBankBytes;

AccessKind kind_of(RecordCode::Kind k) {
  switch (k) {
    case RecordCode::Kind::Block:
    case RecordCode::Kind::End:
    case RecordCode::Kind::Sync:
      return AccessKind::None;
    case RecordCode::Kind::Read:
      return AccessKind::Load;
    case RecordCode::Kind::Write:
      return AccessKind::Store;
    case RecordCode::Kind::Atomic:
      return AccessKind::Atomic;
    case RecordCode::Kind::CopyRead:
    case RecordCode::Kind::CopyWrite:
      return AccessKind::Copy;
  }
  return AccessKind::None;
}

u32 words_of(RecordCode::Addresses a) {
  constexpr u8 kWords[8] = {2, 3, 3, 4, 2 + probe::kLanes, 4};
  return kWords[static_cast<u32>(a)];
}

}  // namespace

LaunchCounts::LaunchCounts(const probe::LaunchInfo& l, KernelCodes& codes, Done done, ModelChoice choice)
    : site_(l.site),
      sites_(l.sites),
      done_(std::move(done)),
      choice_(std::move(choice)),
      of_worker_(l.workers),
      recording_(l.workers, this, take) {
  profile_.id = l.id, profile_.node = l.node, profile_.device = l.device;
  profile_.kernel = l.kernel;
  std::ranges::copy(l.grid, profile_.grid);
  std::ranges::copy(l.block, profile_.block);
  std::ranges::copy(l.cluster, profile_.cluster);
  profile_.shared_static = l.shared_static, profile_.shared_dynamic = l.shared_dynamic;
  if (!done_) return;
  profile_.residency = l.residency();
  memory_ = {l.page, l.compression};
  code_ = codes.of(l, parameters_of(profile_.residency.device), profile_.no_time);
}

void LaunchCounts::begin() {
  only_ = choice_.counts_only && choice_.counts_only();
  if (code_ && done_ && !only_) time_ = std::make_unique<LaunchTime>(code_, profile_, choice_.l2, std::move(memory_));
}

probe::Count* LaunchCounts::counts(u32 worker) {
  std::call_once(begun_, [&] { begin(); });
  Mine& mine = of_worker_.at(worker);
  if (mine.counts.empty())
    mine.counts.resize(sites_), mine.sites.resize(sites_), mine.last.resize(sites_), mine.unheard.resize(sites_);
  return mine.counts.data();
}

probe::Unheard* LaunchCounts::unheard(u32 worker, u32 cta) {
  Mine& mine = of_worker_.at(worker);
  return mine.waits || mine.unheard.empty() || (time_ && time_->hears(cta)) ? nullptr : mine.unheard.data();
}

void LaunchCounts::Site::sum(Known& k) {
  const u64 n = std::exchange(k.times, 0);
  if (k.code.space == Space::Global)
    global += {n, n * k.sectors.sectors, n * k.sectors.ideal, n * k.sectors.lines};
  else
    shared += {n, n * k.wavefronts.wavefronts, n * k.wavefronts.passes, n * k.wavefronts.ideal};
}

void LaunchCounts::Site::sum(probe::Unheard& u) {
  const u64 n = std::exchange(u.times, 0);
  if (RecordCode::unpack(static_cast<u32>(u.code)).space == Space::Local)
    local_requests += n;
  else
    shared += {n, n * unheard.wavefronts, n * unheard.passes, n * unheard.ideal};
}

void LaunchCounts::Mine::hear_all() {
  waits = true;
  for (u32 k = 0; k < unheard.size(); ++k) sites[k].sum(unheard[k]), unheard[k].code = 0;
}

// From now on the next one like it is counted by compiled code. False: it was so.
bool LaunchCounts::know(Mine& mine, const Record& r) {
  probe::Unheard& u = mine.unheard[r.site];
  RecordCode code = r.code;
  code.addresses = RecordCode::Addresses::None;
  u32 distances[probe::kLanes] = {};
  const u64 first = r.address(0);
  for (u32 l = 0; code.space == Space::Shared && l < probe::kLanes; ++l)
    distances[l] = static_cast<u32>(r.address(l) - first);
  if (u.code == code.pack() && std::ranges::equal(u.distances, distances)) return false;
  mine.sites[r.site].sum(u);
  u.code = code.pack();
  std::ranges::copy(distances, u.distances);
  return true;
}

Wavefronts LaunchCounts::cost_of(Mine& mine, const Record& r) {
  if (mine.waits || r.lanes != ~0u || r.code.bytes % kBankBytes) return wavefronts_of(r);
  Wavefronts& known = mine.sites[r.site].unheard;
  if (know(mine, r)) known = wavefronts_of(r);
  return known;
}

void LaunchCounts::add(Mine& mine, const Record& r, const Lines* lines) {
  Site& s = mine.sites[r.site];
  s.kind = kind_of(r.code.kind);
  if (r.code.space == Space::Local) {
    ++s.local_requests;
    if (!mine.waits && r.lanes == ~0u) know(mine, r);
    return;
  }
  const bool global = r.code.space == Space::Global;
  if (!global && r.code.space != Space::Shared) return;
  // Banks repeat each line, too. Addresses of shared memory are those of aligned words.
  const bool each = r.code.addresses == RecordCode::Addresses::Each;
  const u64* const pattern = r.code.addresses == RecordCode::Addresses::Pattern ? r.each : nullptr;
  const u32 unit = global ? kLineBytes : kBankBytes, place = each ? ~0u : r.first % unit;
  if (s.known.empty()) s.known.resize(kPlaces);
  Site::Known& k = s.known[place / kBankBytes % kPlaces];
  if (each || k.lanes != r.lanes || k.code != r.code || k.pattern != pattern || k.place != place) {
    if (k.times) s.sum(k);
    k.lanes = r.lanes, k.place = place, k.code = r.code, k.pattern = pattern;
    if (global)
      k.sectors = lines ? sectors_of(r, *lines) : sectors_of(r);
    else
      k.wavefronts = cost_of(mine, r);
  }
  ++k.times;
  mine.last[r.site] = {each ? 0 : r.lanes | u64{r.code.pack()} << 32, pattern, place, unit - 1, &k.times};
}

void LaunchCounts::take(void* of, u32 worker, const u64* begin, const u64* end) {
  auto& self = *static_cast<LaunchCounts*>(of);
  if (!self.done_ || self.only_) return;
  Mine& mine = self.of_worker_[worker];
  LaunchTime* const time = self.time_.get();
  using Kind = RecordCode::Kind;
  Record r;
  while (begin < end) {
    const u64* const words = begin;
    const u32 site = static_cast<u32>(words[0]), lanes = static_cast<u32>(words[0] >> 32);
    const u32 cta = static_cast<u32>(words[1]), high = static_cast<u32>(words[1] >> 32);
    const RecordCode code = RecordCode::unpack(high);
    begin += words_of(code.addresses);
    if (code.kind == Kind::Block) {
      if (time)
        time->enter_block(cta, high & ((1u << RecordCode::kWarpBits) - 1), site, lanes,
                          static_cast<probe::Detour>(code.bytes));
      continue;
    }
    if (code.kind == Kind::End) {
      if (time) time->end_cta(cta);
      continue;
    }
    const bool counts = code.kind != Kind::Sync && lanes && site < mine.last.size();
    const bool global = code.space == Space::Global;
    const bool told = time && (code.kind == Kind::Sync || global || time->hears(cta));
    const bool same = counts && mine.last[site].same(words);
    if (same) ++*mine.last[site].times;
    if (same && !told) continue;
    if ((code.looks || code.kind == Kind::Sync) && !mine.waits) mine.hear_all();
    probe::read_record(words, r);
    std::optional<Lines> lines;
    if (!same && counts && global && code.addresses == RecordCode::Addresses::Each) lines.emplace(r);
    if (!same && counts) add(mine, r, lines ? &*lines : nullptr);
    if (told) time->add(r, words, begin, lines ? &*lines : nullptr);
  }
}

LaunchCounts::Counted LaunchCounts::counted(const LaunchTime* time) const {
  Counted c{.only = only_, .l2_lines = time ? time->lines() : 0};
  Hash h;
  for (u32 k = 0; k < sites_; ++k) {
    probe::Count all;
    for (const Mine& mine : of_worker_)
      if (!mine.counts.empty()) all += mine.counts[k];
    h.word(all.warps), h.word(all.lanes);
    c.warps += all.warps;
  }
  c.hash = h.a;
  return c;
}

// Of all workers.
SiteProfile LaunchCounts::sum_of(u32 site) {
  SiteProfile all;
  all.site = site;
  for (Mine& mine : of_worker_) {
    if (mine.counts.empty()) continue;
    all.executed += mine.counts[site];
    Site& s = mine.sites[site];
    for (Site::Known& of : s.known) s.sum(of);
    s.sum(mine.unheard[site]);
    if (s.kind != AccessKind::None) all.kind = s.kind;
    all.global += s.global;
    all.shared += s.shared;
    all.local_requests += s.local_requests;
  }
  return all;
}

void LaunchCounts::add_places() {
  for (u32 k = 0; k < sites_; ++k) {
    SiteProfile s = sum_of(k);
    if (!s.executed.warps) continue;
    s.at = site_(k);
    profile_.sites.push_back(std::move(s));
  }
}

// Of what metrics tell apart; and those that advice names.
void LaunchCounts::add_sums() {
  std::map<std::pair<AccessKind, bool>, SiteProfile> sums;
  SiteProfile sectors, conflicts;
  const auto sum = [&](const SiteProfile& s) {
    SiteProfile& to = sums[{s.kind, s.global.requests != 0}];
    to.kind = s.kind, to.executed += s.executed, to.local_requests += s.local_requests;
    to.global += s.global, to.shared += s.shared;
  };
  for (u32 k = 0; k < sites_; ++k) {
    SiteProfile s = sum_of(k);
    if (!s.executed.warps) continue;
    if (s.global.excess() > sectors.global.excess()) std::swap(s, sectors);
    if (s.executed.warps && s.shared.conflicts() > conflicts.shared.conflicts()) std::swap(s, conflicts);
    if (s.executed.warps) sum(s);
  }
  for (auto& [kind, s] : sums) profile_.sites.push_back(std::move(s));
  for (SiteProfile* s : {&sectors, &conflicts}) {
    if (!s->executed.warps) continue;
    s->at = site_(s->site);
    profile_.sites.push_back(std::move(*s));
  }
}

void LaunchCounts::ended() {
  recording_.finish();
  if (!done_) return;
  std::call_once(begun_, [&] { begin(); });
  profile_.detailed = choice_.detailed;
  if (!only_) choice_.detailed ? add_places() : add_sums();
  if (time_) time_->finish(profile_, choice_.what_ifs);
  if (!choice_.detailed) profile_.listing = nullptr, profile_.machine.clear(), profile_.replay.clear();
  const Counted c = counted(time_.get());
  time_.reset();
  done_(std::move(profile_), c);
}

}  // namespace us::timing
