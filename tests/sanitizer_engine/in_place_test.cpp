// SPDX-License-Identifier: Apache-2.0
// Accesses that compiled code judges itself: what is found, and what a launch is said to have touched, is the same as
// where every access is a call.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sanitizer_engine/sim.h"

namespace us::sanitizer::test {
namespace {

constexpr u64 kIn = u64{1} << 40, kOut = kIn + 65536, kBytes = 65536;
constexpr u32 kCtas = 3, kWarps = 3, kRead = 1, kWritten = 2;
constexpr Space G = Space::Global;

struct Outcome {
  std::vector<std::string> found;
  std::map<u64, u32> touched;  // by word
  u64 in_place = 0, told = 0;
  bool operator==(const Outcome& o) const { return found == o.found && touched == o.touched; }
};

struct Program {
  u32 seed = 0;
  bool knows = false;  // the text says where stores go
  bool written = true;
  bool calm = false;  // each thread has places of its own
};

Outcome run(const Program& program, bool in_place) {
  std::mt19937 random(program.seed);
  const auto pick = [&](u32 n) { return static_cast<u32>(random() % n); };
  Outcome all;
  Sim s;
  s.in_place = in_place;
  s.checker.on_touched([&](const probe::LaunchInfo&, const std::vector<Touched>& t) {
    for (const Touched& one : t)
      for (u64 at = one.begin; at < one.begin + one.bytes; at += 4) all.touched[at] |= one.write ? kWritten : kRead;
  });
  s.allocate(kIn, kBytes, program.written).allocate(kOut, kBytes, program.written);
  for (u32 launch = 0; launch < 3; launch++) {
    Shape shape{.ctas = kCtas, .threads = 32 * kWarps, .barriers_only = true};
    if (program.knows) shape.stored_to = {kOut};
    s.next(shape);
    for (u32 n = 0; n < 60; n++) {
      const u32 cta = pick(kCtas), warp = pick(kWarps), kind = pick(16), slot = pick(4);
      if (kind == 0) {
        s.barrier(cta);
        continue;
      }
      // Mostly the part of the block and the warp; now and then another's, or one that is not aligned to the row.
      const bool wild = !program.calm && pick(5) == 0;
      const u32 bytes = 4u << (program.calm ? slot % 3 : pick(3));
      const u32 owner = wild && pick(2) ? pick(kCtas * kWarps) : cta * kWarps + warp;
      u64 at = owner * 4096 + slot * 512 + (wild ? 4 * bytes * pick(8) : 0);
      const u32 lanes = pick(8) ? ~0u : 1u + pick(0xffff);
      Lanes l = s.lanes(warp, lanes, cta);
      l.at(1 + kind);
      const bool reads_in = kind < 8, same = kind == 7, stores = kind >= 12;
      at += reads_in ? kIn : kOut;
      if (kind == 6 || kind == 13) {  // the second half of the warp: behind the first, apart, or at the same place
        const u64 high = at + 16 * bytes * (wild ? pick(3) : 1);
        l.halves(stores ? probe::Access::Kind::Write : probe::Access::Kind::Read, at, high, bytes);
        continue;
      }
      stores ? l.store(G, at, bytes, bytes) : l.load(G, at, bytes, same ? 0 : bytes);
    }
    for (u32 c = 0; c < kCtas; c++) s.end_cta(c);
    all.touched[u64{launch}] = 0;
  }
  s.listener->ended();
  for (const Finding& f : s.findings()) {
    std::string text = std::string(info(f.check).name) + " " + std::to_string(f.launch - s.info.id) + " " + f.object;
    for (const Party& p : f.parties)
      text += " " + p.action + " " + (p.site.frames.empty() ? "" : std::to_string(p.site.frames[0].line));
    all.found.push_back(text + " " + std::to_string(f.times));
  }
  std::ranges::sort(all.found);
  all.in_place = s.in_place_, all.told = s.quick_settled;
  return all;
}

TEST(InPlace, LikeCalls) {
  u64 in_place = 0, races = 0, silent = 0;
  for (u32 seed = 1; seed <= 1500; seed++) {
    const Program p{.seed = seed, .knows = seed % 2 == 1, .written = seed % 5 > 0, .calm = seed % 3 == 0};
    const Outcome calls = run(p, false), code = run(p, true);
    EXPECT_EQ(calls.in_place, 0u);
    ASSERT_EQ(calls.found, code.found) << seed;
    ASSERT_TRUE(calls.touched == code.touched) << seed;
    in_place += code.in_place, races += !code.found.empty(), silent += code.found.empty();
  }
  std::printf("%lu accesses in place; %lu programs with findings, %lu without\n", in_place, races, silent);
  EXPECT_GT(in_place, 20000u);
  EXPECT_GT(races, 100u);
  EXPECT_GT(silent, 100u);
}

}  // namespace
}  // namespace us::sanitizer::test
