// SPDX-License-Identifier: Apache-2.0
// Profiles in files: what was written is read, and damaged files are read as far as they go.
#include <gtest/gtest.h>

#include "timing/launch_profile.h"
#include "timing/metrics.h"

namespace us::timing {
namespace {

LaunchProfile example() {
  LaunchProfile p;
  p.id = 7, p.process = 42;
  p.program = "/bin/app", p.kernel = "k(int*)";
  p.grid[0] = 3, p.block[0] = 64, p.block[1] = 2;
  p.shared_static = 100;
  p.residency.device = "NVIDIA H200", p.residency.origin = "ptxas";
  p.residency.sms = 132, p.residency.warps_per_sm = 64, p.residency.blocks = 16;
  SiteProfile s;
  s.at.text = "ld.global.f32";
  s.at.frames.push_back({"a.cu", 12, 3, "k(int*)"});
  s.executed = {.warps = 5, .lanes = 160, .read = 640, .written = 0};
  s.kind = AccessKind::Load;
  s.global = {.requests = 5, .sectors = 40, .ideal_sectors = 20, .lines = 10};
  p.sites.push_back(s);
  s.kind = AccessKind::Copy;
  s.shared = {.requests = 1, .wavefronts = 9, .passes = 4, .ideal_wavefronts = 4};
  p.sites.push_back(s);
  return p;
}

double metric(const LaunchProfile& p, std::string_view name) {
  const auto all = metrics();
  const auto values = values_of(p);
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k].name == name) return values[k].value_or(-1);
  ADD_FAILURE() << name;
  return -2;
}

TEST(ProfileFile, IsReadAsItWasWritten) {
  const std::string bytes = to_record(example()) + to_record(LaunchProfile());
  const auto all = read_profiles(bytes);
  ASSERT_EQ(all.size(), 2u);
  const LaunchProfile& p = all[0];
  EXPECT_EQ(to_record(p), to_record(example()));
  EXPECT_EQ(p.kernel, "k(int*)");
  EXPECT_EQ(p.block[1], 2u);
  ASSERT_EQ(p.sites.size(), 2u);
  EXPECT_EQ(p.sites[0].at.frames.at(0).line, 12u);
  EXPECT_EQ(p.sites[1].shared.conflicts(), 5u);
}

TEST(ProfileFile, LaunchesShareTheListingOfTheirProcess) {
  Listing l;
  l.id = 3, l.origin = "ptxas";
  l.places.push_back({"a.cu", 12});
  l.statements.push_back({9, 40, "ld.global.f32 %f1, [%rd1];"});
  l.instructions.push_back({{0x1122334455667788, ~u64{0}}, 40, 0, 0});
  l.instructions.push_back({});
  LaunchProfile p = example();
  p.listing = std::make_shared<const Listing>(l);
  p.machine.resize(2);
  p.machine[1].lanes = 5, p.machine[1].stalls[kStalls - 1] = 77;
  p.replay.push_back({.sm = 131, .cta = 3, .warp = 2, .partition = 1, .begin = 5, .end = 1000});
  p.what_ifs.push_back({WhatIf::FastPipes, 12345});
  LaunchProfile other = p;
  other.process = 43;
  const auto all = read_profiles(to_record(l, 42) + to_record(p) + to_record(p) + to_record(other));
  ASSERT_EQ(all.size(), 3u);
  ASSERT_TRUE(all[0].listing);
  EXPECT_EQ(all[0].listing, all[1].listing);
  EXPECT_EQ(to_record(*all[0].listing, 42), to_record(l, 42));
  EXPECT_EQ(all[0].listing->instructions[0].word.hi, ~u64{0});
  EXPECT_EQ(all[0].listing->instructions[1].place, Listing::kNone);
  EXPECT_EQ(all[0].machine[1].stalls[kStalls - 1], 77u);
  EXPECT_EQ(all[0].replay.at(0).end, 1000u);
  EXPECT_EQ(all[0].what_ifs.at(0).what, WhatIf::FastPipes);
  EXPECT_EQ(all[0].what_ifs.at(0).picoseconds, 12345u);
  EXPECT_FALSE(all[2].listing) << "of another process";
}

TEST(ProfileFile, MetricsAloneLeaveOutWhatIsLong) {
  Listing l;
  l.id = 3;
  l.instructions.resize(2);
  LaunchProfile p = example();
  p.listing = std::make_shared<const Listing>(l);
  p.machine.resize(2);
  p.replay.resize(100);
  p.what_ifs.push_back({WhatIf::FastPipes, 12345});
  SiteProfile even, uneven;
  even.at.text = "ld.global.v4.f32", even.global = {.requests = 4, .sectors = 64, .ideal_sectors = 64, .lines = 16};
  uneven.at.text = "ld.global.u8", uneven.global = {.requests = 4, .sectors = 64, .ideal_sectors = 4, .lines = 16};
  p.sites = {even, uneven};
  const std::string bytes = to_record(l, p.process) + to_record(p);
  const auto all = read_profiles(bytes, Detail::Metrics);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_FALSE(all[0].listing);
  EXPECT_EQ(all[0].machine.capacity() + all[0].replay.capacity(), 0u);
  ASSERT_EQ(all[0].sites.size(), 2u);
  EXPECT_EQ(all[0].sites[0].global.sectors, 64u);
  EXPECT_TRUE(all[0].sites[0].at.text.empty());
  EXPECT_EQ(all[0].sites[1].at.text, "ld.global.u8") << "advice names it";
  EXPECT_EQ(all[0].what_ifs.at(0).picoseconds, 12345u);
  EXPECT_EQ(read_profiles(bytes)[0].machine.size(), 2u);
}

TEST(ProfileFile, WorkStandsBesideLaunches) {
  using Kind = WorkProfile::Kind;
  const WorkProfile w{.process = 42,
                      .kind = Kind::Copy,
                      .node = 9,
                      .stream = 3,
                      .bytes = 4096,
                      .host = 1.5,
                      .after = {7, 8},
                      .what = "copy"};
  const ReusedTime r{.process = 42,
                     .node = 10,
                     .kernel = "k()",
                     .scaled = true,
                     .takes = {.active = 2000, .share = 0.25, .ctas = 33, .fences = 4, .holds = 70000}};
  const std::string bytes =
      to_record(example()) + to_record(w) + to_record(r) + to_record(WorkProfile{.kind = Kind::Waited, .node = 9});
  EXPECT_EQ(read_profiles(bytes).size(), 1u);
  const auto work = read_work(bytes);
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(to_record(work[0]), to_record(w));
  EXPECT_EQ(work[0].after, (std::vector<u64>{7, 8}));
  EXPECT_EQ(work[0].host, 1.5);
  EXPECT_EQ(work[1].kind, Kind::Waited);
  const auto reused = read_reused(bytes);
  ASSERT_EQ(reused.size(), 1u);
  EXPECT_EQ(to_record(reused[0]), to_record(r));
  EXPECT_EQ(reused[0].takes.share, 0.25);
  EXPECT_EQ(reused[0].takes.fences, 4);
  EXPECT_EQ(reused[0].takes.holds, 70000);
}

TEST(ProfileFile, DamagedEndsTheReading) {
  const std::string bytes = to_record(example()) + to_record(example());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    const auto all = read_profiles(std::string_view(bytes).substr(0, cut));
    EXPECT_EQ(all.size(), cut < bytes.size() / 2 ? 0u : 1u) << cut;
  }
  std::string changed = bytes;
  for (std::size_t k = 4; k < changed.size(); k += 3) changed[k] = static_cast<char>(changed[k] ^ 0x55);
  read_profiles(changed);  // whatever it is, it ends
}

TEST(Metrics, OfAnExampleByHand) {
  const LaunchProfile p = example();
  EXPECT_EQ(metric(p, "launch__thread_count"), 3 * 128);
  EXPECT_EQ(metric(p, "sm__maximum_warps_per_active_cycle_pct"), 100);
  EXPECT_EQ(metric(p, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 40);
  EXPECT_EQ(metric(p, "memory_l2_theoretical_sectors_global"), 80);
  EXPECT_EQ(metric(p, "derived__memory_l1_wavefronts_shared_excessive"), 5);
  EXPECT_EQ(metric(p, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"), 16);
  EXPECT_EQ(metric(p, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"), -1);
}

}  // namespace
}  // namespace us::timing
