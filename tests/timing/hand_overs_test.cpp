// SPDX-License-Identifier: Apache-2.0
// How long CTAs wait for what others write, against oracle/timing/messages.txt: loops of an H200 that look at words.
#include "timing/hand_overs.h"

#include <gtest/gtest.h>

#include <list>

namespace us::timing {
namespace {

using Kind = probe::RecordCode::Kind;
constexpr u32 kLook = 1, kTell = 2, kCount = 3;  // sites

// CTAs of one warp, of whose events each takes the same times where nobody waits.
class Grid {
 public:
  Grid(u32 ctas, u32 sms) : overs(parameters, sms, 1, ctas), of_(ctas) {}
  u32 look(u32 cta, u64 address, bool again = false) {
    return note(cta, kLook, Kind::Read, address, true, true, again);
  }
  u32 tell(u32 cta, u64 address) { return note(cta, kTell, Kind::Write, address, false, false, false); }
  u32 count(u32 cta, u64 address) { return note(cta, kCount, Kind::Atomic, address, false, true, false); }
  // What a replay of this CTA alone hears: `gap` cycles between events, looks and atomics are answered after `answer`.
  void replay(u32 cta, double gap, double answer, double begin = 0, double end = 0) {
    SmTime sm;
    double now = begin + gap;
    for (const auto& [event, answers] : of_[cta]) {
      sm.heard.push_back({event, now, now + (answers ? answer : 0)});
      now = sm.heard.back().done + gap;
    }
    sm.starts = {begin}, sm.ends = {end > 0 ? end : now};
    TimedCta c{.cta = cta};
    overs.replayed(sm, {&c});
  }
  const Parameters parameters;
  HandOvers overs;

 private:
  u32 note(u32 cta, u32 site, Kind kind, u64 address, bool looks, bool answers, bool again) {
    probe::Record r;
    r.site = site, r.cta = cta, r.lanes = 1, r.first = address;
    r.code = {.kind = kind, .addresses = probe::RecordCode::Addresses::Same, .bytes = 4, .looks = looks};
    const u32 event = overs.add(r, looks, answers, again);
    if (!again) of_[cta].push_back({event, answers});
    return event;
  }
  std::vector<std::list<std::pair<u32, bool>>> of_;
};

// ring 0 8 and 0 1 by 132 CTAs: 508 320 and 64 256 ns, so a hand-over takes 480.6 ns. Own times as the model replays
// them: 300 cycles for the look, 140 before it and before the store.
TEST(HandOvers, TokenGoesRound) {
  constexpr u32 kCtas = 132, kTurns = 8;
  Grid g(kCtas, kCtas);
  u32 last = 0;
  for (u32 cta = 0; cta < kCtas; ++cta) g.look(cta, 64 * cta);
  for (u32 t = 0; t < kTurns; ++t)
    for (u32 cta = 0; cta < kCtas; ++cta) {
      last = g.look(cta, 64 * cta, true);
      g.tell(cta, 64 * ((cta + 1) % kCtas));
      if (t + 1 < kTurns) g.look(cta, 64 * cta);
    }
  EXPECT_TRUE(g.overs.any());
  g.replay(0, 140, 300), g.replay(kCtas - 1, 140, 300);
  g.overs.solve();
  const double hop = (g.overs.wait_of(last) + 300 + 2 * 140) / kCtas;
  EXPECT_NEAR(hop / g.parameters.sm_clock, 480.6, 0.15 * 480.6);
}

// to_and_fro of 128 turns by two CTAs: 118 048 to 124 224 ns, of one turn 2624 and 3232: 460 ns a hand-over.
TEST(HandOvers, ToAndFro) {
  Grid g(2, 132);
  u32 look = 0;
  g.look(0, 0), g.look(1, 0);
  for (u32 t = 0; t < 4; ++t)
    for (u32 cta = 0; cta < 2; ++cta) {
      look = g.look(cta, 0, true);
      g.tell(cta, 0);
      if (t < 3) g.look(cta, 0);
    }
  g.replay(0, 100, 300);
  g.overs.solve();
  EXPECT_NEAR((g.overs.wait_of(look) + 300 + 2 * 100) / 2 / g.parameters.sm_clock, 460, 0.15 * 460);
}

TEST(HandOvers, NobodyWaitsForWhatWasThereBefore) {
  Grid g(2, 2);
  const u32 tell = g.tell(0, 0);
  for (u32 k = 0; k < 20; ++k) g.tell(1, 4096);
  const u32 look = g.look(1, 0), own = g.look(1, 4096);
  g.replay(0, 100, 300), g.replay(1, 100, 300);
  EXPECT_EQ(g.overs.solve(), 0);
  EXPECT_EQ(g.overs.wait_of(tell), 0);
  EXPECT_EQ(g.overs.wait_of(look), 0);
  EXPECT_EQ(g.overs.wait_of(own), 0);  // the warp itself wrote it
}

// A barrier: who counts last lets the others go, and that is no sooner than all have counted.
TEST(HandOvers, WhoComesLastLetsTheOthersGo) {
  Grid g(3, 3);
  g.count(0, 0), g.look(0, 64);
  for (u32 k = 0; k < 50; ++k) g.tell(1, 4096);  // is late
  g.count(1, 0), g.look(1, 64);
  const u32 last = g.count(2, 0);
  g.tell(2, 64);
  const u32 first = g.look(0, 64, true);
  g.replay(0, 100, 300), g.replay(1, 100, 300), g.replay(2, 100, 300);
  g.overs.solve();
  EXPECT_NEAR(g.overs.wait_of(last), 50 * 100 - 300, 1);
  EXPECT_GT(g.overs.wait_of(first), g.overs.wait_of(last));
}

// The third CTA takes the place of the first, and waits for the second, which is long at work.
TEST(HandOvers, PlacesAreTakenAgain) {
  Grid g(3, 2);
  g.tell(0, 4096);
  for (u32 k = 0; k < 100; ++k) g.tell(1, 8192);
  g.tell(1, 0);
  const u32 look = g.look(2, 0);
  g.replay(0, 100, 300), g.replay(1, 100, 300), g.replay(2, 100, 300);
  const double rest = g.overs.solve(), begins = 2 * 100 + g.parameters.cta_restart;
  EXPECT_EQ(rest, 0);  // it was replayed
  EXPECT_NEAR(g.overs.wait_of(look), 101 * 100 + g.parameters.hand_over - (begins + 100 + 300), 1);
}

TEST(HandOvers, CtasThatAreNotReplayedEndLater) {
  Grid g(4, 4);
  for (u32 cta = 0; cta < 4; ++cta) {
    if (cta) g.look(cta, 64 * (cta - 1));
    g.tell(cta, 64 * cta);
  }
  g.replay(0, 100, 300), g.replay(1, 100, 300);
  EXPECT_NEAR(g.overs.solve(), 2 * (100 + g.parameters.hand_over), 1);
}

}  // namespace
}  // namespace us::timing
