// SPDX-License-Identifier: Apache-2.0
#include "timing/launch_counts.h"

#include <algorithm>

#include "timing/accesses.h"

namespace us::timing {
namespace {

using probe::Record, probe::RecordCode, probe::Space;

AccessKind kind_of(RecordCode::Kind k) {
  switch (k) {
    case RecordCode::Kind::Block:
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

}  // namespace

LaunchCounts::LaunchCounts(const probe::LaunchInfo& l, Done done)
    : site_(l.site), sites_(l.sites), done_(std::move(done)), of_worker_(l.workers), recording_(l.workers, this, take) {
  profile_.id = l.id, profile_.device = l.device;
  profile_.kernel = l.kernel;
  std::ranges::copy(l.grid, profile_.grid);
  std::ranges::copy(l.block, profile_.block);
  std::ranges::copy(l.cluster, profile_.cluster);
  profile_.shared_static = l.shared_static, profile_.shared_dynamic = l.shared_dynamic;
  profile_.residency = l.residency();
}

probe::Count* LaunchCounts::counts(u32 worker) {
  Mine& mine = of_worker_.at(worker);
  if (mine.counts.empty()) mine.counts.resize(sites_), mine.sites.resize(sites_);
  return mine.counts.data();
}

void LaunchCounts::add(Site& s, const Record& r) {
  s.kind = kind_of(r.code.kind);
  if (r.code.space == Space::Global) {
    const Sectors n = sectors_of(r);
    s.global += {1, n.sectors, n.ideal, n.lines};
  } else if (r.code.space == Space::Shared) {
    const Wavefronts n = wavefronts_of(r);
    s.shared += {1, n.wavefronts, n.passes, n.ideal};
  } else if (r.code.space == Space::Local) {
    ++s.local_requests;
  }
}

void LaunchCounts::take(void* of, u32 worker, const u64* begin, const u64* end) {
  auto& sites = static_cast<LaunchCounts*>(of)->of_worker_[worker].sites;
  Record r;
  while (begin < end) {
    begin = probe::read_record(begin, r);
    if (r.code.kind != RecordCode::Kind::Block && r.lanes && r.site < sites.size()) add(sites[r.site], r);
  }
}

void LaunchCounts::ended() {
  recording_.finish();
  for (u32 k = 0; k < sites_; ++k) {
    SiteProfile all;
    for (const Mine& mine : of_worker_) {
      if (mine.counts.empty()) continue;
      all.executed += mine.counts[k];
      const Site& s = mine.sites[k];
      if (s.kind != AccessKind::None) all.kind = s.kind;
      all.global += s.global;
      all.shared += s.shared;
      all.local_requests += s.local_requests;
    }
    if (!all.executed.warps) continue;
    all.at = site_(k);
    profile_.sites.push_back(std::move(all));
  }
  done_(std::move(profile_));
}

}  // namespace us::timing
