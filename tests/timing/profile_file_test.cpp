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
