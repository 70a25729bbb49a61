// SPDX-License-Identifier: Apache-2.0
#include "driver/code/compile_notice.h"

#include <gtest/gtest.h>

#include <vector>

#include "driver/code/compile_times.h"

namespace us::driver {
namespace {

using namespace std::chrono_literals;

struct Listener {
  std::vector<std::string> said;
  CompileNotices notices;
  explicit Listener(bool watched) {
    notices.say = [this](std::string_view text) { said.emplace_back(text); };
    notices.watched = watched;
    notices.patience = 20ms;
  }
  void compile(bool& told, std::chrono::milliseconds takes) const {
    const CompileNotice notice(notices, "_Z4fillPi", told);
    std::this_thread::sleep_for(takes);
  }
};

TEST(CompileNotice, SaysOnceThatAKernelTakesLong) {
  const Listener l(false);
  bool told = false;
  for (int k = 0; k < 3; ++k) l.compile(told, 100ms);
  EXPECT_EQ(l.said, std::vector<std::string>{"compiling fill(int*) ..."});
}

TEST(CompileNotice, SaysNothingOfQuickOnes) {
  Listener l(true);
  l.notices.patience = 60s;
  bool told = false;
  l.compile(told, 0ms);
  EXPECT_TRUE(l.said.empty());
  EXPECT_FALSE(told);
}

TEST(CompileNotice, SaysWhenItIsDoneWhereSomebodyWatches) {
  const Listener l(true);
  bool told = false;
  l.compile(told, 100ms);
  ASSERT_EQ(l.said.size(), 2u);
  EXPECT_EQ(l.said[1].rfind("compiled fill(int*) in ", 0), 0u) << l.said[1];
}

TEST(CompileNotice, SaysNothingWhenToldToBeQuiet) {
  Listener l(true);
  l.notices.say = nullptr;
  bool told = false;
  l.compile(told, 100ms);
  EXPECT_TRUE(l.said.empty());
}

TEST(CompileTimes, AreToldIfTheyMatter) {
  CompileTimes t;
  EXPECT_EQ(t.text(true), "");
  t.add("fill(int*)", 1000ms);
  EXPECT_EQ(t.text(true), "");
  t.add("fill(int*)", 0ms);
  t.add("sum(int*)", 1500ms);
  EXPECT_EQ(
      t.text(true),
      "compiling took 2.5 s: 3 kernels, 1.5 s of it sum(int*); the next run has the compiled code from the cache");
}

TEST(CompileTimes, OneKernelNeedsNoShare) {
  CompileTimes t;
  t.add("fill(int*)", 2040ms);
  EXPECT_EQ(t.text(false),
            "compiling fill(int*) took 2.0 s; without a cache (--cache DIR) the next run compiles again");
}

}  // namespace
}  // namespace us::driver
