// SPDX-License-Identifier: Apache-2.0
// CTAs that run one behind the other, most of them like the one before: what is found is the same as where something
// else happens in each, which ends all shortening of their beginnings, barriers and ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sanitizer_engine/sim.h"

namespace us::sanitizer::test {
namespace {

constexpr u64 kIn = u64{1} << 40, kOut = kIn + (1 << 20), kBytes = 1 << 20;
constexpr u32 kCtas = 12, kWarps = 3;
using Kind = probe::Access::Kind;

struct Op {
  enum class What : u8 { Barrier, ReadIn, ReadOut, WriteOut, Shared, Halves, Atomic } what = What::Barrier;
  u32 warp = 0, slot = 0, bytes = 4;
  bool wild = false;  // another warp's place, or another CTA's
};

struct Program {
  std::vector<Op> ops;
  u32 odd = ~0u;  // the CTA that does the wild ones
  bool knows = false;
};

Program program_of(u32 seed) {
  std::mt19937 random(seed);
  const auto pick = [&](u32 n) { return static_cast<u32>(random() % n); };
  Program p{.ops = {}, .odd = pick(3) ? pick(kCtas) : ~0u, .knows = pick(2) == 0};
  const u32 kinds = pick(3) ? 5 : 8;  // without shared memory and atomics, or with
  for (u32 n = 4 + pick(10); n; n--) {
    const u32 kind = pick(kinds);
    const auto what = kind == 7   ? Op::What::Atomic
                      : kind == 6 ? Op::What::Shared
                      : kind == 5 ? Op::What::Halves
                      : kind == 4 ? Op::What::Barrier
                                  : static_cast<Op::What>(1 + kind % 3);
    p.ops.push_back({what, pick(kWarps), pick(3), 4u << pick(3), pick(4) == 0});
  }
  return p;
}

void run_op(Sim& s, const Op& o, u32 cta, bool wild) {
  const u32 cta_of = wild && o.slot == 0 ? (cta + 1) % kCtas : cta, warp = wild ? (o.warp + 1) % kWarps : o.warp;
  const u64 at = u64{cta_of * kWarps + warp} * 4096 + o.slot * 512;
  Lanes l = s.lanes(o.warp, ~0u, cta);
  l.at(10 * static_cast<u32>(o.what) + o.slot + 1);
  switch (o.what) {
    case Op::What::Barrier:
      return void(s.barrier(cta));
    case Op::What::ReadIn:
      return void(l.load(Space::Global, kIn + at, o.bytes, o.bytes));
    case Op::What::ReadOut:
      return void(l.load(Space::Global, kOut + at, o.bytes, o.bytes));
    case Op::What::WriteOut:
      return void(l.store(Space::Global, kOut + at, o.bytes, o.bytes));
    case Op::What::Shared:
      return void(l.store(Space::Shared, kShared + warp * 512, 4, 4));
    case Op::What::Halves:
      return void(l.halves(Kind::Write, kOut + at, kOut + at + 2048, o.bytes));
    case Op::What::Atomic:
      return void(s.lanes(o.warp, 1, cta).at(99).atomic(Space::Global, kOut + kBytes - 4));
  }
}

struct Outcome {
  std::vector<std::string> found;
  std::map<u64, u32> touched;  // by word
  bool operator==(const Outcome&) const = default;
};

Outcome run(const Program& p, bool shortened) {
  Outcome all;
  Sim s({.ctas = 0});
  s.checker.on_touched([&](const probe::LaunchInfo&, const std::vector<Touched>& t) {
    for (const Touched& one : t)
      for (u64 at = one.begin; at < one.begin + one.bytes; at += 4) all.touched[at] |= one.write ? 2 : 1;
  });
  s.allocate(kIn, kBytes).allocate(kOut, kBytes);
  for (u32 launch = 0; launch < 2; launch++) {
    Shape shape{.ctas = kCtas, .threads = 32 * kWarps, .barriers_only = true, .in_turns = true};
    if (p.knows) shape.stored_to = {kOut};
    s.next(shape);
    for (u32 cta = 0; cta < kCtas; cta++) {
      s.begin_cta(cta);
      if (!shortened) {  // one lane votes alone: nothing is wrong with that
        const u64 members[32] = {1};
        probe::Collective c;
        c.kind = probe::Collective::Kind::Vote, c.members = members;
        s.listener->collective({.cluster = cta, .cta = cta, .lanes = 1, .live = ~0u, .site = 5}, c);
      }
      for (const Op& o : p.ops) run_op(s, o, cta, o.wild && cta == p.odd);
      s.end_cta(cta);
    }
  }
  s.listener->ended();
  for (const Finding& f : s.findings()) {
    std::string text = std::string(info(f.check).name) + " " + std::to_string(f.launch - s.info.id) + " " + f.object;
    for (const Party& one : f.parties)
      text += " " + one.action + " " + one.who + " " +
              (one.site.frames.empty() ? "" : std::to_string(one.site.frames[0].line));
    all.found.push_back(text + " " + std::to_string(f.times) + " " + std::to_string(f.blocks));
  }
  std::ranges::sort(all.found);
  return all;
}

TEST(Turns, LikeOthers) {
  u64 races = 0, silent = 0;
  for (u32 seed = 1; seed <= 1500; seed++) {
    const Program p = program_of(seed);
    const Outcome each = run(p, false), shortened = run(p, true);
    ASSERT_EQ(each.found, shortened.found) << seed;
    ASSERT_TRUE(each.touched == shortened.touched) << seed;
    races += !shortened.found.empty(), silent += shortened.found.empty();
  }
  std::printf("%lu programs with findings, %lu without\n", races, silent);
  EXPECT_GT(races, 100u);
  EXPECT_GT(silent, 100u);
}

}  // namespace
}  // namespace us::sanitizer::test
