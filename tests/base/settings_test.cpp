// SPDX-License-Identifier: Apache-2.0
#include "base/settings.h"

#include <gtest/gtest.h>

#include <map>

namespace us {
namespace {

Lookup from(std::map<std::string, std::string> environment) {
  return [environment](const char* name) {
    const auto it = environment.find(name);
    return it == environment.end() ? nullptr : it->second.c_str();
  };
}

TEST(Settings, DefaultsAreTheH200AndACacheBelowHome) {
  const auto s = read_settings(from({{"HOME", "/home/a"}}));
  ASSERT_TRUE(s);
  EXPECT_EQ(s->device, "h200");
  EXPECT_EQ(s->cache_dir, "/home/a/.cache/understudy");
  EXPECT_FALSE(s->deterministic || s->verbose || s->fast_math || s->time_passes);
  EXPECT_EQ(s->threads, 0u);
}

TEST(Settings, EachVariableReachesItsField) {
  const auto s = read_settings(from({{"UNDERSTUDY_DEVICE", "a100"},
                                     {"UNDERSTUDY_DEVICES", "4"},
                                     {"UNDERSTUDY_THREADS", "3"},
                                     {"UNDERSTUDY_DETERMINISTIC", "1"},
                                     {"UNDERSTUDY_ASYNC", "random:42"},
                                     {"UNDERSTUDY_CPU", "x86-64-v3"},
                                     {"UNDERSTUDY_TIME_PASSES", "1"},
                                     {"UNDERSTUDY_DUMP_AFTER", "loops"},
                                     {"UNDERSTUDY_VERBOSE", "1"},
                                     {"UNDERSTUDY_JSON", "/r.json"},
                                     {"UNDERSTUDY_MATH", "fast"},
                                     {"UNDERSTUDY_CACHE", "/c"},
                                     {"UNDERSTUDY_NVRTC", "/n.so"}}));
  ASSERT_TRUE(s);
  EXPECT_EQ(s->device, "a100");
  EXPECT_EQ(s->devices, 4u);
  EXPECT_EQ(s->threads, 3u);
  EXPECT_TRUE(s->deterministic && s->time_passes && s->verbose && s->fast_math);
  EXPECT_EQ(s->async.delivery, AsyncDelivery::Random);
  EXPECT_EQ(s->async.seed, 42u);
  EXPECT_EQ(s->cpu, "x86-64-v3");
  EXPECT_EQ(s->dump_after, "loops");
  EXPECT_EQ(s->json, "/r.json");
  EXPECT_EQ(s->cache_dir, "/c");
  EXPECT_EQ(s->nvrtc, "/n.so");
}

TEST(Settings, OneIsAskedForAloneByItsField) {
  const Lookup given = from({{"UNDERSTUDY_NVRTC", "/n.so"}, {"UNDERSTUDY_RECORD", ""}, {"UNDERSTUDY_THREADS", "many"}});
  EXPECT_EQ(setting_text("nvrtc", given), "/n.so");
  EXPECT_EQ(setting_text("record", given), "");
  EXPECT_EQ(setting_text("ptxas", given), "");
}

TEST(Settings, PassesThatCodeIsCorrectWithoutCanBeLeftOut) {
  const auto s = read_settings(from({{"UNDERSTUDY_DISABLE_PASS", "dead,bounds"}}));
  ASSERT_TRUE(s);
  for (const PassRow& row : pass_rows()) {
    const Pass p = static_cast<Pass>(&row - pass_rows().data());
    EXPECT_EQ(name_of(p), row.name);
    EXPECT_EQ(s->disable_pass.has(p), row.name == "dead" || row.name == "bounds");
  }
  EXPECT_FALSE(read_settings(from({{"UNDERSTUDY_DISABLE_PASS", "dead,ssa"}})));  // needed
  EXPECT_FALSE(read_settings(from({{"UNDERSTUDY_DISABLE_PASS", "nonsense"}})));
  EXPECT_FALSE(read_settings(from({{"UNDERSTUDY_DUMP_AFTER", "nonsense"}})));
  EXPECT_EQ(read_settings(from({{"UNDERSTUDY_DUMP_AFTER", "its_form"}}))->dump_after, "its_form");
}

TEST(Settings, AllWrongValuesAreNamedAtOnce) {
  const auto s =
      read_settings(from({{"UNDERSTUDY_THREADS", "two"}, {"UNDERSTUDY_MATH", "loose"}, {"UNDERSTUDY_VERBOSE", "yes"}}));
  ASSERT_FALSE(s);
  ASSERT_EQ(s.diags().size(), 3u);
  EXPECT_EQ(s.diags()[0].message, "UNDERSTUDY_THREADS=two: expected a whole number from 0 to 4096");
  EXPECT_EQ(s.diags()[1].message, "UNDERSTUDY_VERBOSE=yes: expected 0 or 1");
  EXPECT_EQ(s.diags()[2].message, "UNDERSTUDY_MATH=loose: expected `exact` or `fast`");
}

TEST(Settings, KernelsAndLaunchesOfAProfile) {
  const auto s = read_settings(from({{"UNDERSTUDY_PROFILE_KERNELS", "regex:^a.*b$"},
                                     {"UNDERSTUDY_PROFILE_SKIP", "18446744073709551615"},
                                     {"UNDERSTUDY_CHECK_LAUNCH", "3"}}));
  ASSERT_TRUE(s);
  EXPECT_EQ(s->profile_kernels, "regex:^a.*b$");
  EXPECT_EQ(s->profile_skip, ~u64{0});
  EXPECT_EQ(s->profile_count, ~u64{0});
  EXPECT_EQ(s->check_launch, 3u);
  const auto wrong = read_settings(from({{"UNDERSTUDY_PROFILE_KERNELS", "regex:("},
                                         {"UNDERSTUDY_PROFILE_SKIP", "-1"},
                                         {"UNDERSTUDY_PROFILE_COUNT", "18446744073709551616"},
                                         {"UNDERSTUDY_CHECK_LAUNCH", "1st"}}));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.diags().size(), 4u);
  EXPECT_TRUE(read_settings(from({{"UNDERSTUDY_PROFILE_KERNELS", "a("}})));  // a name, though none of a function
}

TEST(Settings, CacheCanBeSwitchedOffAndMoved) {
  EXPECT_EQ(read_settings(from({{"HOME", "/h"}, {"UNDERSTUDY_CACHE", "none"}}))->cache_dir, "");
  EXPECT_EQ(read_settings(from({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}))->cache_dir, "/x/understudy");
  EXPECT_EQ(read_settings(from({}))->cache_dir, "");
}

TEST(Settings, MisspeltVariablesAreFound) {
  const char* environment[] = {"HOME=/h", "UNDERSTUDY_DEVICE=h200", "UNDERSTUDY_DEVISE=h100", nullptr};
  EXPECT_EQ(unknown_settings(environment), std::vector<std::string>{"UNDERSTUDY_DEVISE"});
}

}  // namespace
}  // namespace us
