// SPDX-License-Identifier: Apache-2.0
#include "timing/launch_profile.h"

#include <map>

#include "probe/packed_site.h"
#include "timing/record_kinds.h"

namespace us::timing {
namespace {

// One list of the numbers for both ways: f(number) may change it.
template <class P, class F>
void numbers_of(P& p, F&& f) {
  f(p.id), f(p.node), f(p.process), f(p.device);
  for (auto* three : {&p.grid, &p.block, &p.cluster})
    for (auto& n : *three) f(n);
  f(p.shared_static), f(p.shared_dynamic);
  auto& r = p.residency;
  f(r.sms), f(r.warps_per_sm), f(r.registers), f(r.shared), f(r.shared_system), f(r.shared_per_sm), f(r.cluster_sms);
  f(r.shared_wish);
  auto& t = p.time;
  f(t.warps), f(t.lanes), f(t.lost), f(t.cycles), f(t.active), f(t.picoseconds);
  f(t.replayed), f(t.replayed_cycles), f(t.issued), f(t.warp_cycles), f(t.l1_sectors), f(t.l1_hits), f(t.shared_cycles);
  for (auto& n : t.stalls) f(n);
  f(t.dram_read), f(t.dram_written), f(t.l2_bytes), f(t.host_written), f(t.fences);
  f(r.blocks), f(r.by_registers), f(r.by_shared), f(r.by_warps), f(r.by_blocks);
}
template <class W, class F>
void numbers_of_warp(W& w, F&& f) {
  f(w.sm), f(w.cta), f(w.warp), f(w.partition), f(w.begin), f(w.end);
}
template <class S, class F>
void numbers_of_site(S& s, F&& f) {
  f(s.site), f(s.executed.warps), f(s.executed.lanes), f(s.executed.read), f(s.executed.written);
  f(s.global.requests), f(s.global.sectors), f(s.global.ideal_sectors), f(s.global.lines);
  f(s.shared.requests), f(s.shared.wavefronts), f(s.shared.passes), f(s.shared.ideal_wavefronts);
  f(s.local_requests);
}

template <class W, class F>
void numbers_of_work(W& w, F&& f) {
  f(w.process), f(w.kind), f(w.node), f(w.stream), f(w.bytes), f(w.overlaps), f(w.device), f(w.from), f(w.to);
  f(w.peers), f(w.graph), f(w.on_device), f(w.thread);
}

constexpr double kShares = 1e6;  // parts of a device that are told apart
u64 picoseconds(double ns) { return static_cast<u64>(ns * 1000); }
double nanoseconds(u64 ps) { return static_cast<double>(ps) / 1000; }

void put_machine(PackedRecord& out, const InstructionProfile& i) {
  out.number(i.warps).number(i.lanes);
  u32 waited = 0;
  for (u32 k = 0; k < kStalls; ++k) waited |= u32{i.stalls[k] != 0} << k;
  out.number(waited);
  for (const u64 n : i.stalls)
    if (n) out.number(n);
}
InstructionProfile get_machine(PackedReader& in) {
  InstructionProfile i;
  i.warps = in.number(), i.lanes = in.number();
  const u64 waited = in.number();
  for (u32 k = 0; k < kStalls; ++k)
    if (waited >> k & 1) i.stalls[k] = in.number();
  return i;
}

using Listings = std::map<std::pair<u32, u32>, std::shared_ptr<const Listing>>;  // by process and number

LaunchProfile get(PackedReader& in, const Listings& listings, Detail detail) {
  LaunchProfile p;
  const auto number = [&](auto& n) { n = static_cast<std::remove_reference_t<decltype(n)>>(in.number()); };
  numbers_of(p, number);
  p.program = in.text(), p.kernel = in.text();
  p.residency.device = in.text(), p.residency.origin = in.text();
  p.fault = in.text(), p.no_time = in.text();
  p.sites.resize(in.count());
  for (SiteProfile& s : p.sites) {
    s.at = probe::get_site(in);
    s.kind = static_cast<AccessKind>(std::min<u64>(in.number(), static_cast<u64>(AccessKind::Copy)));
    numbers_of_site(s, number);
  }
  const u64 listing = in.number();
  p.machine.resize(in.count());
  for (InstructionProfile& i : p.machine) i = get_machine(in);
  p.replay.resize(in.count());
  for (ReplayedWarp& w : p.replay) numbers_of_warp(w, number);
  p.what_ifs.resize(in.count());
  for (WhatIfProfile& w : p.what_ifs) {
    w.what = static_cast<WhatIf>(std::min<u64>(in.number(), kWhatIfs - 1));
    w.picoseconds = in.number();
  }
  if (const auto it = listings.find({p.process, static_cast<u32>(listing)}); it != listings.end())
    p.listing = it->second;
  if (!p.listing || p.listing->instructions.size() != p.machine.size()) p.listing = nullptr, p.machine.clear();
  if (detail == Detail::Metrics) {
    p.listing = nullptr;
    for (SiteProfile& s : p.sites)
      if (s.global.sectors <= s.global.ideal_sectors && !s.shared.conflicts()) s.at = {};
    std::vector<InstructionProfile>().swap(p.machine);
    std::vector<ReplayedWarp>().swap(p.replay);
  }
  return p;
}

}  // namespace

bool is_launch(u8 kind) {
  using enum RecordKind;
  return kind == static_cast<u8>(Launch) || kind == static_cast<u8>(Summed) || kind == static_cast<u8>(Reused);
}

std::string to_record(const LaunchProfile& p) {
  PackedRecord out(static_cast<u8>(p.detailed ? RecordKind::Launch : RecordKind::Summed));
  const auto number = [&](const auto& n) { out.number(n); };
  numbers_of(p, number);
  out.text(p.program).text(p.kernel).text(p.residency.device).text(p.residency.origin).text(p.fault).text(p.no_time);
  out.number(p.sites.size());
  for (const SiteProfile& s : p.sites) {
    probe::put_site(out, s.at);
    out.number(static_cast<u64>(s.kind));
    numbers_of_site(s, number);
  }
  out.number(p.listing ? p.listing->id : 0).number(p.machine.size());
  for (const InstructionProfile& i : p.machine) put_machine(out, i);
  out.number(p.replay.size());
  for (const ReplayedWarp& w : p.replay) numbers_of_warp(w, number);
  out.number(p.what_ifs.size());
  for (const WhatIfProfile& w : p.what_ifs) out.number(static_cast<u64>(w.what)).number(w.picoseconds);
  return out.record();
}

std::string to_record(const WorkProfile& w) {
  PackedRecord out(static_cast<u8>(RecordKind::Work));
  numbers_of_work(w, [&](const auto& n) { out.number(static_cast<u64>(n)); });
  out.number(picoseconds(w.host)).text(w.what).number(w.after.size());
  for (const u64 a : w.after) out.number(a);
  return out.record();
}

std::string to_record(const ReusedTime& r) {
  PackedRecord out(static_cast<u8>(RecordKind::Reused));
  const KernelTime& t = r.takes;
  out.number(r.process).number(r.node).text(r.kernel).number(r.scaled).number(picoseconds(t.active));
  out.number(static_cast<u64>(t.share * kShares)).number(static_cast<u64>(t.ctas));
  out.number(static_cast<u64>(t.sms * kShares)).number(t.split);
  out.number(static_cast<u64>(t.fences * kShares)).number(picoseconds(t.holds));
  return out.record();
}

std::vector<WorkProfile> read_work(std::string_view bytes) {
  std::vector<WorkProfile> all;
  for_each_record(bytes, [&](u8 kind, PackedReader& in) {
    if (kind != static_cast<u8>(RecordKind::Work)) return;
    WorkProfile w;
    numbers_of_work(w, [&](auto& n) { n = static_cast<std::remove_reference_t<decltype(n)>>(in.number()); });
    w.host = nanoseconds(in.number()), w.what = in.text();
    w.after.resize(in.count());
    for (u64& a : w.after) a = in.number();
    all.push_back(std::move(w));
  });
  return all;
}

std::vector<ReusedTime> read_reused(std::string_view bytes) {
  std::vector<ReusedTime> all;
  for_each_record(bytes, [&](u8 kind, PackedReader& in) {
    if (kind != static_cast<u8>(RecordKind::Reused)) return;
    ReusedTime r;
    r.process = static_cast<u32>(in.number()), r.node = in.number(), r.kernel = in.text(), r.scaled = in.number();
    KernelTime& t = r.takes;
    t.active = nanoseconds(in.number());
    t.share = static_cast<double>(in.number()) / kShares, t.ctas = static_cast<double>(in.number());
    t.sms = static_cast<double>(in.number()) / kShares, t.split = in.number();
    t.fences = static_cast<double>(in.number()) / kShares, t.holds = nanoseconds(in.number());
    all.push_back(std::move(r));
  });
  return all;
}

std::vector<LaunchProfile> read_profiles(std::string_view bytes, Detail detail) {
  std::vector<LaunchProfile> all;
  Listings listings;
  for_each_record(bytes, [&](u8 kind, PackedReader& in) {
    const bool summed = kind == static_cast<u8>(RecordKind::Summed);
    if (summed || kind == static_cast<u8>(RecordKind::Launch)) {
      all.push_back(get(in, listings, detail));
      all.back().detailed = !summed;
    }
    if (kind != static_cast<u8>(RecordKind::Listing)) return;
    const ListingOfProcess l = get_listing(in);
    listings[{l.process, l.listing->id}] = l.listing;
  });
  return all;
}

}  // namespace us::timing
