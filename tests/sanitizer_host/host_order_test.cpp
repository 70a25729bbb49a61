// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/host_order.h"

#include <gtest/gtest.h>

#include "sanitizer/records.h"

namespace us::sanitizer {
namespace {

using probe::Memory;
using probe::Range;
using probe::Space;
using probe::Work;

struct Kept final : Sink {
  void found(const Finding& f) override { all.push_back(f); }
  std::vector<Finding> all;
};

class Order : public ::testing::Test {
 protected:
  // Nodes that run as soon as they may.
  void does(u64 node, std::vector<u64> after, std::vector<Range> reads, std::vector<Range> writes) {
    submit(node, std::move(after), std::move(reads), std::move(writes));
    ends(node);
  }
  void submit(u64 node, std::vector<u64> after, std::vector<Range> reads = {}, std::vector<Range> writes = {},
              u64 overlaps = 0) {
    Work w;
    w.node = node;
    w.stream = 3;
    w.after = std::move(after);
    w.reads = std::move(reads);
    w.writes = std::move(writes);
    w.overlaps = overlaps;
    w.what = "copy";
    order.work(w);
  }
  void ends(u64 node) { tell(Work::Kind::Complete, node); }
  void poll(u64 node) {
    Work w;
    w.node = node;
    w.polls = true;
    order.work(w);
  }
  void word(Work::Kind kind, u64 node, u64 value) {
    Work w;
    w.kind = kind;
    w.node = node;
    w.values = {{1024, value}};
    order.work(w);
  }
  void waits(u64 node) { tell(Work::Kind::Waited, node); }
  void tell(Work::Kind kind, u64 node) {
    Work w;
    w.kind = kind;
    w.node = node;
    order.work(w);
  }
  void launch(u64 id, u64 node) {
    probe::LaunchInfo l;
    l.id = id;
    l.node = node;
    order.launched(l);
  }
  std::vector<Check> checks() const {
    std::vector<Check> out;
    for (const Finding& f : sink.all) out.push_back(f.check);
    return out;
  }
  static Range at(u64 begin, u64 bytes) { return {Space::Global, begin, bytes}; }

  Kept sink;
  static HostStack::Addresses nothing() { return {}; }
  HostStack stack{nothing, [](const HostStack::Addresses&) { return probe::SiteInfo(); }, nothing};
  HostOrder order{sink, stack};
};

using Checks = std::vector<Check>;

TEST_F(Order, OneStreamIsSilent) {
  does(1, {}, {}, {at(0, 64)});
  does(2, {1}, {at(0, 64)}, {});
  does(3, {2}, {}, {at(32, 64)});
  EXPECT_EQ(checks(), Checks());
}

TEST_F(Order, TwoStreamsRace) {
  does(1, {}, {}, {at(0, 64)});
  does(2, {}, {at(60, 64)}, {});
  ASSERT_EQ(checks(), Checks{Check::RaceHost});
  EXPECT_EQ(sink.all[0].object, "4 bytes at 0x3c");
}

TEST_F(Order, ReadsDoNotRace) {
  does(1, {}, {at(0, 64)}, {});
  does(2, {}, {at(0, 64)}, {});
  EXPECT_EQ(checks(), Checks());
}

TEST_F(Order, NeighboursDoNotRace) {
  does(1, {}, {}, {at(0, 64)});
  does(2, {}, {}, {at(64, 64)});
  EXPECT_EQ(checks(), Checks());
}

TEST_F(Order, AnEventOrders) {
  does(1, {}, {}, {at(0, 64)});
  does(2, {1}, {}, {});  // record
  does(3, {}, {}, {at(128, 64)});
  does(4, {3, 2}, {}, {});  // wait
  does(5, {4}, {at(0, 64)}, {});
  EXPECT_EQ(checks(), Checks());
}

TEST_F(Order, AnEventOrdersNothingBehindIt) {
  does(1, {}, {}, {});  // record
  does(2, {1}, {}, {at(0, 64)});
  does(3, {1}, {}, {});  // wait
  does(4, {3}, {at(0, 64)}, {});
  EXPECT_EQ(checks(), Checks{Check::RaceHost});
}

TEST_F(Order, BeingOverIsNoOrderButWaitingIs) {
  does(1, {}, {}, {at(0, 64)});
  waits(1);
  does(2, {}, {at(0, 64)}, {});
  EXPECT_EQ(checks(), Checks());
  does(3, {}, {}, {at(512, 64)});
  does(4, {}, {at(512, 64)}, {});
  EXPECT_EQ(checks(), Checks{Check::RaceHost});
}

TEST_F(Order, TheSameWorkThatEndsInAnotherOrder) {
  submit(1, {}, {}, {at(0, 64)});
  submit(2, {}, {at(0, 64)}, {});
  ends(2);
  ends(1);
  EXPECT_EQ(checks(), Checks{Check::RaceHost});
}

// It begins when that one has begun, which is behind what comes before.
TEST_F(Order, WhatComesBeforeTheKernelThatIsOverlapped) {
  does(1, {}, {}, {at(0, 64)});
  submit(2, {1});
  submit(3, {}, {}, {at(0, 64)}, 2);
  ends(2), ends(3);
  EXPECT_EQ(checks(), Checks());
  submit(4, {}, {}, {at(0, 64)});  // in another stream
  ends(4);
  EXPECT_EQ(checks(), Checks{Check::RaceHost});
}

TEST_F(Order, NodesOfAGraphThatAllocateAndFree) {
  const auto node = [&](u64 id, std::vector<u64> after, bool frees) {
    Work w;
    w.node = id;
    w.after = std::move(after);
    (frees ? w.frees : w.allocates) = {at(0, 64)};
    order.work(w);
    ends(id);
  };
  for (u64 k = 0; k < 20; k += 10) {
    node(k + 1, k ? std::vector<u64>{k - 10 + 3} : std::vector<u64>{}, false);
    does(k + 2, {k + 1}, {}, {at(0, 64)});
    node(k + 3, {k + 2}, true);
  }
  EXPECT_EQ(checks(), Checks());
  node(21, {13}, false);
  does(22, {21}, {}, {at(0, 64)});
  does(23, {13}, {at(0, 4)}, {});
  node(24, {22}, true);
  EXPECT_EQ(checks(), (Checks{Check::UseBeforeAlloc, Check::FreePending}));
}

TEST_F(Order, BranchesOfAGraph) {
  for (u64 k = 0; k < 40; k += 10) {  // launches one behind the other
    does(k + 1, k ? std::vector<u64>{k - 10 + 4} : std::vector<u64>{}, {}, {});
    does(k + 2, {k + 1}, {}, {at(0, 64)});
    does(k + 3, {k + 1}, {}, {at(64, 64)});
    does(k + 4, {k + 2, k + 3}, {at(0, 128)}, {});
  }
  EXPECT_EQ(checks(), Checks());
  does(50, {33}, {}, {at(0, 1)});
  EXPECT_EQ(checks(), Checks{Check::RaceHost});
}

TEST_F(Order, FreeOfAPool) {
  order.memory(
      {.kind = Memory::Kind::Allocated, .owner = Memory::Owner::Pool, .begin = 0x1000, .bytes = 256, .node = 1});
  does(1, {}, {}, {});
  does(2, {1}, {}, {at(0x1000, 256)});
  order.memory({.kind = Memory::Kind::Freed, .owner = Memory::Owner::Pool, .begin = 0x1000, .bytes = 256, .node = 3});
  does(3, {2}, {}, {});
  EXPECT_EQ(checks(), Checks());
}

TEST_F(Order, FreeWhileWorkIsPending) {
  order.memory(
      {.kind = Memory::Kind::Allocated, .owner = Memory::Owner::Pool, .begin = 0x1000, .bytes = 256, .node = 1});
  does(1, {}, {}, {});
  submit(2, {1}, {}, {at(0x1000, 256)});
  order.memory({.kind = Memory::Kind::Freed, .owner = Memory::Owner::Pool, .begin = 0x1000, .bytes = 256, .node = 3});
  does(3, {1}, {}, {});
  ends(2);
  ASSERT_EQ(checks(), Checks{Check::FreePending});
  EXPECT_EQ(sink.all[0].object, "256 bytes at offset 0 of an allocation of 256 bytes");
}

TEST_F(Order, UseBeforeTheAllocation) {
  does(1, {}, {}, {});
  order.memory(
      {.kind = Memory::Kind::Allocated, .owner = Memory::Owner::Pool, .begin = 0x1000, .bytes = 256, .node = 1});
  does(2, {}, {}, {at(0x1000, 4)});
  EXPECT_EQ(checks(), Checks{Check::UseBeforeAlloc});
}

TEST_F(Order, NewMemoryHasNoPast) {
  order.memory({.kind = Memory::Kind::Allocated, .begin = 0x1000, .bytes = 256});
  does(1, {}, {}, {at(0x1000, 256)});
  order.memory({.kind = Memory::Kind::Freed, .begin = 0x1000, .bytes = 256});
  order.memory({.kind = Memory::Kind::Allocated, .begin = 0x1000, .bytes = 256});
  does(2, {}, {}, {at(0x1000, 256)});
  EXPECT_EQ(checks(), Checks());
}

TEST_F(Order, Launches) {
  submit(1, {});
  submit(2, {1});
  submit(3, {});
  for (u64 k = 1; k <= 3; ++k) launch(100 + k, k);
  EXPECT_TRUE(order.before(101, 102, false));
  EXPECT_FALSE(order.before(102, 101, false));
  EXPECT_FALSE(order.before(101, 103, false));
  EXPECT_FALSE(order.before(103, 101, false));
}

TEST_F(Order, OverlappingLaunches) {
  submit(1, {});
  submit(2, {}, {}, {}, 1);
  submit(3, {2});
  for (u64 k = 1; k <= 3; ++k) launch(100 + k, k);
  EXPECT_FALSE(order.before(101, 102, false));
  EXPECT_TRUE(order.before(101, 102, true));
  EXPECT_TRUE(order.before(101, 103, false));  // the second is complete only after the first
}

TEST_F(Order, KernelsAndCopies) {
  submit(1, {});
  launch(101, 1);
  probe::LaunchInfo l;
  l.id = 101, l.node = 1;
  l.kernel = "k()";
  order.touched(l, {{.begin = 0, .bytes = 4, .write = true}});
  ends(1);
  does(2, {}, {at(0, 4)}, {});
  ASSERT_EQ(checks(), Checks{Check::RaceHost});
  EXPECT_EQ(sink.all[0].kernel, "k()");
}

// A function of the host tells the program that what is before it is over, not what is beside it.
TEST_F(Order, FunctionsOfTheHostKnow) {
  does(1, {}, {}, {at(0, 4)});
  does(2, {}, {}, {at(64, 4)});
  submit(3, {1});
  tell(Work::Kind::Begins, 3);
  does(4, {}, {at(0, 4)}, {});
  EXPECT_EQ(checks(), Checks{});
  does(5, {}, {at(64, 4)}, {});
  EXPECT_EQ(checks(), Checks{Check::RaceHost});
}

// A stream that has seen what another one wrote is behind what came before that, and nothing else.
TEST_F(Order, StreamsTellByWords) {
  does(1, {}, {}, {at(0, 4)});
  submit(2, {1});
  word(Work::Kind::Tells, 2, 1);
  ends(2);
  does(3, {2}, {}, {at(64, 4)});
  poll(4);
  word(Work::Kind::Hears, 4, 1);
  ends(4);
  does(5, {4}, {at(0, 4)}, {});
  EXPECT_EQ(checks(), Checks{});
  does(6, {4}, {at(64, 4)}, {});
  EXPECT_EQ(checks(), Checks{Check::RaceHost});
}

// Who wrote another value is not known, so it may be anybody.
TEST_F(Order, OthersTellByWords) {
  does(1, {}, {}, {at(0, 4)});
  submit(2, {});
  word(Work::Kind::Tells, 2, 1);
  ends(2);
  poll(3);
  word(Work::Kind::Hears, 3, 2);
  ends(3);
  does(4, {3}, {at(0, 4)}, {});
  EXPECT_EQ(checks(), Checks{});
}

// A kernel that looks at the host's words is behind what the host knows, and what comes after it told the host
// something is behind the kernel.
TEST_F(Order, KernelsTalkWithTheHost) {
  submit(1, {}), launch(101, 1);
  order.kernel_is_told(101);
  does(2, {}, {}, {at(0, 4)});
  waits(2);
  does(3, {}, {}, {at(64, 4)});
  order.host_is_told(101, false);
  does(4, {}, {}, {at(128, 4)});
  probe::LaunchInfo l;
  l.id = 101, l.node = 1;
  order.touched(l, {{.begin = 0, .bytes = 4}, {.begin = 128, .bytes = 4}});
  EXPECT_EQ(checks(), Checks{});
  order.touched(l, {{.begin = 64, .bytes = 4}});
  EXPECT_EQ(checks(), Checks{Check::RaceHost});
}

// A library that computes on the host does not.
TEST_F(Order, FunctionsOfLibrariesTellNothing) {
  does(1, {}, {}, {at(0, 4)});
  submit(2, {1}, {at(0, 4)}, {at(64, 4)});
  tell(Work::Kind::Begins, 2);
  does(3, {}, {}, {at(0, 4)});
  ends(2);
  EXPECT_EQ(checks(), (Checks{Check::RaceHost, Check::RaceHost}));
}

TEST_F(Order, ChainsAreTakenUpAgain) {
  WorkClocks clocks;
  for (u64 k = 1; k < 3000; k += 3) {
    Work w;
    w.node = k;
    if (k > 1) w.after = {k - 2, k - 1};
    clocks.submitted(w), clocks.complete(k);
    w.node = k + 1, w.after = {k};
    clocks.submitted(w), clocks.complete(k + 1);
    w.node = k + 2;
    clocks.submitted(w), clocks.complete(k + 2);
  }
  EXPECT_EQ(clocks.chains(), 2u);
}

TEST(Records, WhatWasCutOffIsLeftOut) {
  Finding f;
  f.check = Check::ApiError;
  f.object = "cudaFree";
  f.parties.push_back({.action = "call", .site = {{{"a.cu", 3, 4, "main"}}, 0, ""}, .who = "the host", .others = 2});
  f.why = {"because"};
  const std::string first = finding_record(1, f),
                    all = process_record(12, "app") + first + times_record(1, 5, 2) + end_record();
  const Findings whole = read_records(all);
  ASSERT_EQ(whole.all.size(), 1u);
  EXPECT_EQ(whole.process, 12u);
  EXPECT_TRUE(whole.ended);
  EXPECT_EQ(whole.all[0].times, 5u);
  EXPECT_EQ(key_of(whole.all[0]), key_of(f));
  EXPECT_EQ(whole.all[0].parties[0].others, 2u);
  for (std::size_t n = 0; n < all.size(); ++n) EXPECT_FALSE(read_records(all.substr(0, n)).ended);
}

}  // namespace
}  // namespace us::sanitizer
