// SPDX-License-Identifier: Apache-2.0
#include "timing/launch_profile.h"

#include "probe/packed_site.h"

namespace us::timing {
namespace {

constexpr u8 kLaunch = 1;

// One list of the numbers for both ways: f(number) may change it.
template <class P, class F>
void numbers_of(P& p, F&& f) {
  f(p.id), f(p.process), f(p.device);
  for (auto* three : {&p.grid, &p.block, &p.cluster})
    for (auto& n : *three) f(n);
  f(p.shared_static), f(p.shared_dynamic);
  auto& r = p.residency;
  f(r.sms), f(r.warps_per_sm), f(r.registers), f(r.shared), f(r.shared_system), f(r.shared_per_sm);
  auto& t = p.time;
  f(t.warps), f(t.lanes), f(t.lost), f(t.cycles), f(t.active), f(t.picoseconds);
  f(t.replayed), f(t.replayed_cycles), f(t.issued), f(t.warp_cycles), f(t.l1_sectors), f(t.l1_hits), f(t.shared_cycles);
  for (auto& n : t.stalls) f(n);
  f(t.dram_read), f(t.dram_written), f(t.l2_bytes);
  f(r.blocks), f(r.by_registers), f(r.by_shared), f(r.by_warps), f(r.by_blocks);
}
template <class S, class F>
void numbers_of_site(S& s, F&& f) {
  f(s.executed.warps), f(s.executed.lanes), f(s.executed.read), f(s.executed.written);
  f(s.global.requests), f(s.global.sectors), f(s.global.ideal_sectors), f(s.global.lines);
  f(s.shared.requests), f(s.shared.wavefronts), f(s.shared.passes), f(s.shared.ideal_wavefronts);
  f(s.local_requests);
}

LaunchProfile get(PackedReader& in) {
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
  return p;
}

}  // namespace

std::string to_record(const LaunchProfile& p) {
  PackedRecord out(kLaunch);
  const auto number = [&](const auto& n) { out.number(n); };
  numbers_of(p, number);
  out.text(p.program).text(p.kernel).text(p.residency.device).text(p.residency.origin).text(p.fault).text(p.no_time);
  out.number(p.sites.size());
  for (const SiteProfile& s : p.sites) {
    probe::put_site(out, s.at);
    out.number(static_cast<u64>(s.kind));
    numbers_of_site(s, number);
  }
  return out.record();
}

std::vector<LaunchProfile> read_profiles(std::string_view bytes) {
  std::vector<LaunchProfile> all;
  for_each_record(bytes, [&](u8 kind, PackedReader& in) {
    if (kind == kLaunch) all.push_back(get(in));
  });
  return all;
}

}  // namespace us::timing
