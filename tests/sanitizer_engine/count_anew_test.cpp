// SPDX-License-Identifier: Apache-2.0
// Segments that are counted anew: what is found, and what a launch is said to have touched, is the same as where the
// numbers go on.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sanitizer_engine/sim.h"

namespace us::sanitizer::test {
namespace {

constexpr u64 kBegin = u64{1} << 40, kBytes = u64{1} << 20, kUnwritten = kBegin + kBytes / 2;
constexpr u32 kCtas = 3, kWarps = 2, kLaunches = 4, kRead = 1, kWritten = 2;
constexpr Space G = Space::Global;

struct Outcome {
  std::vector<std::string> found;
  std::map<u64, u32> touched, done;  // by launch and word: kRead, kWritten
  bool operator==(const Outcome&) const = default;
};

Outcome run(u32 seed, u32 most_segments) {
  std::mt19937 random(seed);
  const auto pick = [&](u32 n) { return static_cast<u32>(random() % n); };
  Outcome all;
  Sim s;
  s.checker.most_segments(most_segments);
  const u64 first = s.info.id;
  s.checker.on_touched([&](const probe::LaunchInfo& i, const std::vector<Touched>& t) {
    for (const Touched& one : t)
      for (u64 at = one.begin & ~u64{3}; at < one.begin + one.bytes; at += 4)
        all.touched[(i.id - first) << 48 | (at - kBegin)] |= one.write ? kWritten : kRead;
  });
  s.allocate(kBegin, kBytes / 2, true).allocate(kUnwritten, kBytes / 2, false);
  for (u32 launch = 0; launch < kLaunches; launch++) {
    s.next({.ctas = kCtas, .threads = 32 * kWarps, .barriers_only = seed % 2 == 0});
    for (u32 n = 0; n < 50; n++) {
      const u32 cta = pick(kCtas), warp = pick(kWarps), kind = pick(16);
      if (kind == 0) {
        s.barrier(cta);
        continue;
      }
      const u32 owner = pick(6) ? cta * kWarps + warp : pick(kCtas * kWarps), bytes = 1u << pick(5);
      const u64 at = (pick(3) ? kBegin : kUnwritten) + owner * 4096 + pick(4) * 512 + (pick(5) ? 0 : 16 * pick(16));
      const u32 lanes = pick(4) ? ~0u : 1u + pick(0xffff);
      Lanes l = s.lanes(warp, lanes, cta);
      l.at(1 + kind);
      const u64 stride = pick(6) ? bytes : 0;
      const auto did = [&](u32 what, u32 size, u64 step) {
        for (u32 lane = 0; lane < 32; lane++)
          for (u32 b = 0; lanes >> lane & 1 && b < size; b++)
            all.done[(s.info.id - first) << 48 | ((at + lane * step + b - kBegin) & ~u64{3})] |= what;
      };
      if (kind >= 14)
        did(kRead | kWritten, 4, 0);
      else
        did(kind < 8 ? kRead : kWritten, bytes, stride);
      if (kind < 8)
        l.load(G, at, bytes, stride);
      else if (kind < 14)
        l.store(G, at, bytes, stride);
      else
        l.atomic(G, at, kind == 14 ? Order::Relaxed : Order::AcqRel);
    }
    for (u32 c = 0; c < kCtas; c++) s.end_cta(c);
  }
  s.listener->ended();
  for (const Finding& f : s.findings()) {
    std::string text = std::string(info(f.check).name) + " " + std::to_string(f.launch - first) + " " + f.object;
    for (const Party& p : f.parties)
      text += " " + p.action + " " + (p.site.frames.empty() ? "" : std::to_string(p.site.frames[0].line));
    all.found.push_back(text + " " + std::to_string(f.times));
  }
  std::ranges::sort(all.found);
  return all;
}

std::vector<std::string> apart(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> out;
  std::ranges::set_symmetric_difference(a, b, std::back_inserter(out));
  return out;
}

TEST(CountAnew, LikeGoingOn) {
  u64 races = 0, unwritten = 0;
  for (u32 seed = 1; seed <= 200; seed++) {
    const Outcome on = run(seed, ~0u), anew = run(seed, 1);
    ASSERT_EQ(apart(on.found, anew.found), std::vector<std::string>()) << seed;
    // All that was written is told, and what was read unless the launch has written there since.
    for (const auto& [at, did] : on.done) {
      const u32 told = on.touched.contains(at) ? on.touched.at(at) : 0;
      EXPECT_EQ(told & kWritten, did & kWritten) << seed << " " << at;
      EXPECT_TRUE(told & kRead || !(did & kRead) || did & kWritten) << seed << " " << at;
    }
    for (const auto& [at, told] : on.touched)
      EXPECT_EQ(told & ~(on.done.contains(at) ? on.done.at(at) : 0), 0u) << seed << " " << at;
    ASSERT_TRUE(on.touched == anew.touched) << seed;
    for (const std::string& f : on.found) races += f.starts_with("race"), unwritten += f.starts_with("uninit");
  }
  std::printf("%lu races, %lu reads of what nobody wrote\n", races, unwritten);
  EXPECT_GT(races, 1000u);
  EXPECT_GT(unwritten, 100u);
}

// 400 launches whose numbers would not have been enough, and a race in the last one.
TEST(CountAnew, TheLastLaunchIsJudged) {
  for (const u32 most : {64u, ~0u}) {
    Sim s;
    s.checker.most_segments(most);
    s.allocate(kBegin, kBytes, true);
    u32 anew = 0, before = 0;
    for (u32 launch = 0; launch < 400; launch++) {
      s.next({.ctas = 2, .threads = 64});
      for (u32 c = 0; c < 2; c++)
        for (u32 w = 0; w < 2; w++) s.warp(w, c).at(5).store(G, kBegin + (c * 2 + w) * 128, 4, 4);
      if (launch == 399) s.warp(0, 0).at(7).load(G, kBegin + 256, 4, 4);
      anew += s.checker.segments() < before, before = s.checker.segments();
      for (u32 c = 0; c < 2; c++) s.end_cta(c);
    }
    s.listener->ended();
    const auto found = s.findings();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(std::string(info(found[0].check).name), "race-global");
    EXPECT_EQ(found[0].launch, s.info.id);
    EXPECT_EQ(anew > 10, most == 64);
  }
}

}  // namespace
}  // namespace us::sanitizer::test
