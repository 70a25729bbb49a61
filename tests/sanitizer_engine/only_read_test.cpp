// SPDX-License-Identifier: Apache-2.0
// Memory that a launch only reads, by the kernel's text: what is found is the same as without knowing it.
#include <gtest/gtest.h>

#include "sanitizer_engine/sim.h"

namespace us::sanitizer::test {
namespace {

constexpr u64 kIn = u64{1} << 40, kOut = kIn + 65536, kBytes = 65536;
constexpr Space G = Space::Global;

// Launches that nothing orders, or that follow each other.
class Unordered final : public LaunchOrder {
 public:
  bool before(u64, u64, bool) const override { return false; }
};

Shape reader(bool knows, u32 ctas = 2) {
  Shape s{.ctas = ctas, .barriers_only = true};
  if (knows) s.stored_to = {kOut, 12345};
  return s;
}

// Loads of rows, of one word and of words that lie anywhere, each several times: from the second on by addresses alone.
void read_all(Sim& s, u32 ctas) {
  for (u32 cta = 0; cta < ctas; cta++)
    for (u32 turn = 0; turn < 3; turn++) {
      for (u32 w = 0; w < 2; w++) {
        s.warp(w, cta).at(1).load(G, kIn + 128 * w, 4, 4);
        s.warp(w, cta).at(2).load(G, kIn + 1024, 8, 0);
        s.warp(w, cta).at(3).load(G, kIn + 2052, 4, 36);
        s.lanes(w, 0xff0, cta).at(4).load(G, kIn + 8192, 16, 16);
      }
      s.barrier(cta);
    }
}

std::string after(bool knows, bool ordered, u64 written, u32 bytes) {
  Sim s;
  s.allocate(kIn, kBytes).allocate(kOut, kBytes);
  if (!ordered) s.checker.set_order(std::make_shared<Unordered>());
  s.next(reader(knows));
  read_all(s, 2);
  for (u32 cta = 0; cta < 2; cta++) s.end_cta(cta);
  s.next({});
  s.thread(0).at(9).store(G, written, bytes);
  s.listener->ended();
  return s.errors();
}

// All follow each other but the last, which nothing orders.
class LastUnordered final : public LaunchOrder {
 public:
  bool before(u64, u64 launch, bool) const override { return launch != last; }
  u64 last = 0;
};

// Two launches read, the second one less than the first, then a word is written.
std::string after_two(bool knows, u64 written) {
  Sim s;
  s.allocate(kIn, kBytes).allocate(kOut, kBytes);
  const auto order = std::make_shared<LastUnordered>();
  s.checker.set_order(order);
  s.next(reader(knows));
  read_all(s, 2);
  for (u32 cta = 0; cta < 2; cta++) s.end_cta(cta);
  s.next(reader(knows));
  for (u32 turn = 0; turn < 3; turn++) s.warp(0).at(1).load(G, kIn + 128, 4, 4);
  for (u32 cta = 0; cta < 2; cta++) s.end_cta(cta);
  order->last = s.info.id + 1;
  s.next({});
  s.thread(0).at(9).store(G, written, 4);
  s.listener->ended();
  return s.errors();
}

TEST(OnlyRead, WhatNobodyReadAgain) {
  for (const bool knows : {false, true}) {
    for (const u64 at : {kIn, kIn + 124, kIn + 128, kIn + 252, kIn + 1024, kIn + 2052 + 31 * 36, kIn + 8192 + 4 * 16})
      EXPECT_EQ(after_two(knows, at), "race-host") << knows << " " << at - kIn;
    for (const u64 at : {kIn + 256, kIn + 1020, kIn + 8192 + 3 * 16})
      EXPECT_EQ(after_two(knows, at), "") << knows << " " << at - kIn;
  }
}

TEST(OnlyRead, LaterLaunches) {
  for (const bool knows : {false, true}) {
    for (const u64 at : {kIn, kIn + 252, kIn + 1024, kIn + 1028, kIn + 2052, kIn + 2052 + 31 * 36, kIn + 8192 + 4 * 16,
                         kIn + 8192 + 11 * 16 + 12}) {
      EXPECT_EQ(after(knows, false, at, 4), "race-host") << knows << " " << at - kIn;
      EXPECT_EQ(after(knows, true, at, 4), "") << knows << " " << at - kIn;
    }
    for (const u64 at :
         {kIn + 256, kIn + 1020, kIn + 1032, kIn + 2048, kIn + 2056, kIn + 8192 + 3 * 16, kIn + 8192 + 12 * 16})
      EXPECT_EQ(after(knows, false, at, 4), "") << knows << " " << at - kIn;
  }
}

// The race of the other launch that wrote before is found, too.
TEST(OnlyRead, EarlierLaunches) {
  for (const bool ordered : {false, true}) {
    Sim s;
    s.allocate(kIn, kBytes).allocate(kOut, kBytes);
    if (!ordered) s.checker.set_order(std::make_shared<Unordered>());
    s.next({});
    s.thread(0).store(G, kIn + 64, 4);
    s.next(reader(true));
    read_all(s, 2);
    EXPECT_EQ(s.errors(), ordered ? "" : "race-host");
  }
}

TEST(OnlyRead, WhatIsStoredToIsJudged) {
  Sim s;
  s.allocate(kIn, kBytes).allocate(kOut, kBytes);
  s.next(reader(true));
  read_all(s, 2);
  s.warp(0, 0).at(5).store(G, kOut, 4, 4);
  s.warp(1, 0).at(6).load(G, kOut, 4, 4);
  EXPECT_EQ(s.errors(), "race-global");
}

// Nobody has written it: the load is reported all the same.
TEST(OnlyRead, Unwritten) {
  for (const bool knows : {false, true}) {
    Sim s;
    s.allocate(kIn, kBytes, false).allocate(kOut, kBytes);
    s.next(reader(knows));
    read_all(s, 2);
    EXPECT_EQ(s.all(), "uninitialised-load") << knows;
  }
}

// A store comes where none was expected: races that are certain are found, none is made up, and it is said.
TEST(OnlyRead, StoresGoAstray) {
  Sim s;
  s.allocate(kIn, kBytes).allocate(kOut, kBytes);
  s.next(reader(true));
  read_all(s, 1);
  s.thread(0).at(7).store(G, kIn + 8192 + 64, 4);  // read by this thread's warp, and by others, before a barrier
  EXPECT_EQ(s.errors(), "");
  EXPECT_TRUE(s.checker.astray(s.info.id));
  s.thread(40, 1).at(8).load(G, kIn + 8192 + 64, 4);
  EXPECT_EQ(s.errors(), "race-global");
  s.thread(0).at(7).store(G, kIn + 4096, 4).at(7).store(G, kIn + 4096, 4);
  s.thread(40, 1).at(8).load(G, kIn + 4100, 4);
  s.thread(0).at(7).store(G, kIn + 4100, 4);
  EXPECT_EQ(s.findings().size(), 2u);
}

// Another launch begins meanwhile: from then on it is as if nothing were known.
TEST(OnlyRead, NotBesideOthers) {
  Sim s;
  s.allocate(kIn, kBytes).allocate(kOut, kBytes);
  s.checker.set_order(std::make_shared<Unordered>());
  s.next(reader(true));
  read_all(s, 2);
  const auto first = s.listener;
  probe::LaunchInfo info = s.info;
  info.id += 1000, info.stored_to.reset();
  const auto second = s.checker.launch(info);
  const auto stores = [&](u64 at) {
    s.listener = second;
    s.thread(0).at(probe::kNoSite).store(G, at, 4);
    s.listener = first;
    return s.findings().size();
  };
  EXPECT_EQ(stores(kIn + 512), 0u);
  EXPECT_EQ(stores(kIn + 4), 1u);
  s.warp(0, 0).at(1).load(G, kIn + 640, 4, 4);
  EXPECT_EQ(stores(kIn + 644), 2u);
  s.warp(0, 0).at(1).load(G, kIn + 512, 4, 4);
  EXPECT_EQ(s.findings().size(), 3u);
  EXPECT_EQ(s.errors(), "race-host");
}

}  // namespace
}  // namespace us::sanitizer::test
