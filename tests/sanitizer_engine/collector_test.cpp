// SPDX-License-Identifier: Apache-2.0
// How often and in how many blocks a finding happened, and which example stands for the others.
#include "sanitizer/collector.h"

#include <gtest/gtest.h>

namespace us::sanitizer {
namespace {

Finding at_line(u32 line, std::string who) {
  Finding f;
  f.check = Check::RaceShared;
  Party p;
  p.who = std::move(who);
  p.site.frames = {{.file = "a.cu", .line = line, .column = 1, .function = "k"}};
  f.parties = {p};
  return f;
}

TEST(Collector, InstructionsOfOneLineInOneBlock) {
  Collector c;
  for (u32 site = 0; site < 7; site++) {
    const Collector::Key k{Check::RaceShared, "k", site, 100, "s"};
    ASSERT_TRUE(c.count(k, 5));
    c.keep(k, at_line(12, "one"));
    EXPECT_FALSE(c.count(k, site % 2));
  }
  const std::vector<Finding> all = c.take();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].times, 14u);
  EXPECT_EQ(all[0].blocks, 3u);
}

TEST(Collector, OtherLinesStandApart) {
  Collector c;
  for (u32 site = 0; site < 2; site++) {
    const Collector::Key k{Check::RaceShared, "k", site, 100, "s"};
    ASSERT_TRUE(c.count(k, 5));
    c.keep(k, at_line(12 + site, "one"));
  }
  EXPECT_EQ(c.take().size(), 2u);
}

TEST(Collector, ThePartiesThatAreFarthestApart) {
  Collector c;
  const Collector::Key k{Check::RaceGlobal, "k", 1, 2, "a"};
  ASSERT_TRUE(c.count(k, 0, 0));
  c.keep(k, at_line(3, "lanes"));
  ASSERT_TRUE(c.count(k, 0, 2));
  c.keep(k, at_line(3, "blocks"));
  EXPECT_FALSE(c.count(k, 1, 1));
  const std::vector<Finding> all = c.take();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].parties[0].who, "blocks");
  EXPECT_EQ(all[0].times, 3u);
  EXPECT_EQ(all[0].blocks, 2u);
}

}  // namespace
}  // namespace us::sanitizer
