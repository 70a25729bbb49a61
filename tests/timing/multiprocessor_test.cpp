// SPDX-License-Identifier: Apache-2.0
// The model of a multiprocessor against what an H200 does with one class of instructions at a time: the latencies and
// rates are those that stand, with their source, in timing/h200.inc and timing/pipes.inc.
#include "timing/multiprocessor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <list>

#include "timing/balance.h"
#include "timing/caches.h"
#include "timing/partition.h"

namespace us::timing {
namespace {

using Kind = Row::Kind;
using probe::RecordCode;

// A kernel of one block of code, run by each warp of each CTA.
class Code {
 public:
  Row& add(Kind kind, Pipe pipe, float interval = 1, float latency = 0, u8 stall = 1) {
    Row r;
    r.kind = kind, r.pipe = pipe, r.interval = interval, r.latency = latency;
    r.control.stall = stall;
    launch.code.rows.push_back(r);
    launch.code.sites.push_back(probe::kNoSite);
    launch.code.bytes.push_back(0);
    return launch.code.rows.back();
  }
  // The instruction before it waits for the one before that.
  void add_chain(Kind kind, Pipe pipe, float interval, float latency, u32 times) {
    for (u32 k = 0; k < times; ++k) {
      Row& r = add(kind, pipe, interval, latency);
      r.control.write_scoreboard = 0, r.control.wait = k ? 1 : 0;
    }
  }
  u32 add_access(Kind kind, u32 bytes) {
    add(kind, Pipe::Memory, 2);
    const u32 site = static_cast<u32>(launch.slot_of_site.size());
    launch.slot_of_site.push_back(site);
    launch.code.sites.back() = site, launch.code.bytes.back() = bytes;
    launch.code.rows.back().words = static_cast<u8>(std::max(1u, bytes / 4));
    return site;
  }
  SmTime run(u32 warps, u32 ctas = 1, u32 times = 1) {
    if (launch.code.rows.back().kind != Kind::Exit) add(Kind::Exit, Pipe::None);
    launch.code.blocks = {{0, static_cast<u32>(launch.code.rows.size()), false, retries}};
    std::vector<TimedCta> all(ctas);
    std::vector<const TimedCta*> list;
    for (TimedCta& c : all) {
      c.asked = asked;
      c.warps.assign(warps, {std::vector<sass::Visit>(times, {0, ~0u}), accesses});
      list.push_back(&c);
    }
    return run_multiprocessor(launch, list, parameters);
  }
  // What every warp accesses at that site.
  void touches(u32 site, probe::Record r, u32 dram = 0) {
    std::vector<u64>& words = kept.emplace_back(probe::kMostRecordWords + 1);
    probe::RecordBuffer to{words.data(), words.data() + 1, nullptr};
    r.lanes = r.lanes ? r.lanes : ~0u;
    probe::write_record(to, r);
    if (accesses.size() <= site) accesses.resize(site + 1);
    accesses[site].push_back({words.data(), static_cast<float>(dram)});
  }
  static probe::Record row(probe::Space space, u32 bytes, u64 first = 1 << 20) {
    probe::Record r;
    r.code = {.addresses = RecordCode::Addresses::Row, .space = space, .bytes = bytes};
    r.first = first;
    return r;
  }
  static probe::Record sync(probe::SyncOp op, u64 address, u64 value) {
    probe::Record r;
    r.code = {.kind = RecordCode::Kind::Sync, .addresses = RecordCode::Addresses::Pair, .bytes = static_cast<u32>(op)};
    r.first = address, r.second = value, r.lanes = 1;
    return r;
  }

  Parameters parameters;
  TimedLaunch launch{.l1_bytes = 128 << 10};
  double asked = 0;      // by each CTA
  bool retries = false;  // the code is a loop around a swap
  std::vector<std::vector<TimedAccess>> accesses;
  std::list<std::vector<u64>> kept;
};

// What the start of a kernel costs besides: a first line of code from DRAM.
double beyond_start(const SmTime& t, const Code& c) { return t.cycles - c.parameters.fetch_cold; }

TEST(Multiprocessor, OneFmaACycleAndSubPartition) {
  Code c;
  for (u32 k = 0; k < 511; ++k) c.add(Kind::Plain, Pipe::Fma, 1);
  const SmTime t = c.run(8, 1, 100);  // two warps of each
  EXPECT_EQ(t.issued, 8u * 51200);
  EXPECT_NEAR(t.cycles, 2 * 51200, 2 * 51200 * 0.05);
}

TEST(Multiprocessor, ARateOfSixtyFourLanesIsEverySecondCycle) {
  Code c;
  for (u32 k = 0; k < 511; ++k) c.add(Kind::Plain, Pipe::Alu, 2);
  EXPECT_NEAR(c.run(8, 1, 100).cycles, 4 * 51200, 4 * 51200 * 0.05);
}

// oracle/timing/pairs.txt: ffma imad, 49.2 cycles for 16 of each: both halves of the pipe a cycle, the one that has
// integers two.
TEST(Multiprocessor, IntegersTakeHalfOfTheFmaPipe) {
  Code c;
  for (u32 k = 0; k < 256; ++k) c.add(Kind::Plain, Pipe::Fma, 1), c.add(Kind::Plain, Pipe::FmaHeavy, 2);
  EXPECT_NEAR(c.run(16, 1, 20).cycles / (4 * 20 * 256), 3, 0.1);
}

// oracle/timing/pairs.txt: high high, 6.2 cycles each with one warp of a sub-partition, 4.0 with eight.
TEST(Multiprocessor, ProductsWithAHighHalfGoThroughThePipeTwice) {
  Code c;
  for (u32 k = 0; k < 256; ++k) c.add(Kind::Plain, Pipe::FmaHeavy, 2, 0, 4).twice = true;
  EXPECT_NEAR(c.run(1, 1, 20).cycles / (20 * 256), 6, 0.3);
  EXPECT_NEAR(c.run(32, 1, 20).cycles / (8 * 20 * 256), 4, 0.2);
}

double first_end(const SmTime& t) {
  double first = t.cycles;
  for (const SmTime::Span& s : t.spans) first = std::min(first, s.end);
  return first / t.cycles;
}

// oracle/timing/pairs.txt, the first warp's end against the last one's with eight: ffma ffma 0.25, logic logic 0.95. A
// warp goes on as long as it can, then the oldest; where it yields, that goes which has waited longest.
TEST(Multiprocessor, WarpsTakeTurns) {
  Code greedy, turns;
  for (u32 k = 0; k < 256; ++k)
    greedy.add(Kind::Plain, Pipe::Fma, 1), turns.add(Kind::Plain, Pipe::Alu, 2, 0, 2).control.yield = k % 4 == 0;
  EXPECT_LT(first_end(greedy.run(32, 1, 20)), 0.3);
  EXPECT_GT(first_end(turns.run(32, 1, 20)), 0.9);
}

// oracle/timing/ctas.txt: floats 1024 and roots 1024, 0.51: of two CTAs the older one has all that it can use.
TEST(Multiprocessor, TheOlderCtaGoesFirst) {
  Code c;
  c.launch.resident = 2;
  for (u32 k = 0; k < 256; ++k) c.add(Kind::Plain, Pipe::Fma, 1).control.yield = k % 4 == 0;
  const SmTime t = c.run(32, 2, 20);
  EXPECT_NEAR(t.ends[0] / t.cycles, 0.51, 0.03);
}

// oracle/timing/slots.txt: first warps of CTAs of 128 threads on 3 0 1 2, of 192 on 3 1 3 1, of 224 on 3 2 1 0.
TEST(Multiprocessor, CtasBeginInTheNextSubPartition) {
  EXPECT_EQ(partition_of(1, 0, 4), (partition_of(0, 0, 4) + 1) % 4);
  EXPECT_EQ(partition_of(4, 0, 4), partition_of(0, 0, 4));
  EXPECT_EQ(partition_of(1, 0, 6), (partition_of(0, 0, 6) + 2) % 4);
  EXPECT_EQ(partition_of(1, 0, 7), (partition_of(0, 0, 7) + 3) % 4);
  EXPECT_EQ(partition_of(5, 3, 32), (partition_of(5, 2, 32) + 1) % 4);
}

// The first two of four CTAs of a multiprocessor have all the work: those behind them have as much as each other.
TEST(Balance, CtasThatWereNotReplayedCountByTheirOwnWork) {
  const std::vector<CtaWork> work{{0, 100, 100}, {1, 100, 100}, {2, 1, 1}, {3, 1, 1}};
  Balance b(work, 4, 1, 1);
  b.set(0.5);
  EXPECT_DOUBLE_EQ(b.of(0, {2}, 3).each, 1);
  EXPECT_DOUBLE_EQ(b.of(0, {1}, 2).each, 0.01);
}

// Four warps of a sub-partition, each in turn: in one half of the time that warps wait the pipe takes nobody, up to
// their own end; in the other half, but for the warp whose turn it is, another is chosen.
TEST(Multiprocessor, AWarpWaitsForItsPipeOrForItsTurn) {
  Code c;
  for (u32 k = 0; k < 256; ++k) c.add(Kind::Plain, Pipe::Alu, 2);
  const SmTime t = c.run(16);
  std::array<u64, kStalls> sum{};
  for (const auto& of : t.stalls)
    for (u32 k = 0; k < kStalls; ++k) sum[k] += of[k];
  const auto each = [&](Stall s) { return static_cast<double>(sum[static_cast<u32>(s)]) / (256 * 16); };
  EXPECT_NEAR(each(Stall::MathPipeThrottle), 2.5, 0.2);
  EXPECT_NEAR(each(Stall::NotSelected), 1.5, 0.2);
}

// The cycles of an instruction come first, then what it waited for beyond them.
TEST(Multiprocessor, ReasonsFollowEachOther) {
  Code c;
  c.add(Kind::Plain, Pipe::Xu, 8, 17, 5).control.write_scoreboard = 0;
  c.add(Kind::Plain, Pipe::Alu, 2).control.wait = 1;
  const SmTime t = c.run(1);
  EXPECT_EQ(t.stalls[1][static_cast<u32>(Stall::Wait)], 4u);
  EXPECT_EQ(t.stalls[1][static_cast<u32>(Stall::ShortScoreboard)], 12u);
}

// oracle/timing/branches.txt: meet and choose with one warp.
TEST(Multiprocessor, LanesThatMeetTakeSixteenCycles) {
  Code straight, meets;
  for (u32 k = 0; k < 20; ++k) straight.add(Kind::Plain, Pipe::None, 1, 0, 5);
  for (u32 k = 0; k < 20; ++k) meets.add(Kind::Reconverge, Pipe::None, 1, 16, 5);
  EXPECT_NEAR(meets.run(1).cycles - straight.run(1).cycles, 20 * 11, 12);
}

TEST(Multiprocessor, AChainOfSharedLoadsTakesItsLatency) {
  Code c;
  c.add_chain(Kind::SharedLoad, Pipe::Memory, 2, 23, 200);
  EXPECT_NEAR(beyond_start(c.run(1), c) / 200, 23, 0.5);
}

// A sum of floating point in shared memory: load, add, swap, again for lanes that were not the first at their word.
// H200: 104 cycles; 3018 where all lanes of a warp have one word.
TEST(Multiprocessor, LanesThatMeetAtASwapTryAgain) {
  const auto sums = [](probe::Record r, u32 warps) {
    Code c;
    const u32 site = c.add_access(Kind::SharedLoad, 4);
    c.launch.code.rows.back().latency = 23, c.launch.code.rows.back().control.write_scoreboard = 0;
    c.add(Kind::Plain, Pipe::Fma, 2, 0, 5).control.wait = 1;
    Row& swap = c.add(Kind::SharedAtomic, Pipe::Memory, 2, 41.1f);
    swap.swaps = swap.spins = true, swap.control.write_scoreboard = 1;
    c.launch.code.sites.back() = site, c.launch.code.bytes.back() = 4;
    c.add(Kind::Plain, Pipe::Alu, 2, 0, 13).control.wait = 2;
    c.retries = true;
    c.touches(site, r);
    return c.run(warps);
  };
  probe::Record apart = Code::row(probe::Space::Shared, 4, 0), one = apart;
  one.code.addresses = RecordCode::Addresses::Same;
  const auto turns = [&](probe::Record r, u32 warps) { return sums(r, warps).turns[0]; };
  EXPECT_EQ(turns(apart, 1).warps, 1u);
  EXPECT_EQ(turns(one, 1).warps, 32u);
  EXPECT_EQ(turns(one, 1).lanes, 32u * 33 / 2);
  EXPECT_NEAR(sums(one, 1).cycles - sums(apart, 1).cycles, 3018 - 104, 300);
  // Of one bank the first is done (oracle/timing/meets.txt, shared_at_random: words that lie 32 apart).
  u64 each[32];
  for (u32 l = 0; l < 32; ++l) each[l] = l * 16;
  probe::Record four = apart;
  four.code.addresses = RecordCode::Addresses::Each, four.each = each;
  EXPECT_EQ(turns(four, 1).warps, 4u);
  EXPECT_EQ(turns(four, 1).lanes, 8u * (4 + 3 + 2 + 1));
  // Warps take a word from each other.
  EXPECT_GT(turns(apart, 4).warps, 4u);
  EXPECT_EQ(turns(apart, 4).first_warps, 4u);
}

// oracle/timing/sleeps.txt: 32 times 500 ns take 32211 to 33046 cycles.
TEST(Multiprocessor, ASleepEndsWithItsBitOfAClock) {
  const Parameters p;
  const auto length = [&](const char* operand) {
    sass::Instruction i;
    i.name = "NANOSLEEP", i.operands = operand;
    return row_of(i, p).latency;
  };
  const auto cycles = [&](u32 times) {
    Code c;
    for (u32 k = 0; k < times; ++k) c.add(Kind::Sleep, Pipe::None, 1, length("0x1f4"));
    return c.run(1).cycles;
  };
  EXPECT_NEAR(cycles(64) - cycles(32), 32600, 450);
  // 8 and 20 ns take as long; of 5000 ns each takes 8; a register says nothing.
  EXPECT_EQ(length("0x8"), length("0x14"));
  EXPECT_NEAR(length("0x1388") / length("0x20"), 128, 1e-3);
  EXPECT_EQ(length("R2"), 0);
}

TEST(Multiprocessor, ConflictsTakeAWavefrontEach) {
  for (const u32 ways : {1u, 2u, 8u, 32u}) {
    Code c;
    const u32 times = 200;
    for (u32 k = 0; k < times; ++k) {
      const u32 site = c.add_access(Kind::SharedLoad, 4);
      u64 each[32];
      for (u32 l = 0; l < 32; ++l) each[l] = l * ways * 4;
      probe::Record r = Code::row(probe::Space::Shared, 4);
      r.code.addresses = RecordCode::Addresses::Each, r.each = each;
      c.touches(site, r);
    }
    EXPECT_NEAR(beyond_start(c.run(16), c) / (16 * times), std::max(1u, ways), 0.06 * ways + 0.05) << ways;
  }
}

TEST(Multiprocessor, LoadsComeFromL1L2OrDram) {
  for (const auto& [dram, again, latency] : {std::tuple(4u, false, 662.0), {0u, false, 285.0}, {0u, true, 32.0}}) {
    Code c;
    const u32 times = 64;
    for (u32 k = 0; k < times; ++k) {
      const u32 site = c.add_access(Kind::Load, 4);
      c.launch.code.rows.back().control.write_scoreboard = 0, c.launch.code.rows.back().control.wait = k ? 1 : 0;
      c.touches(site, Code::row(probe::Space::Global, 4, (1 << 20) + (again ? 0 : k * 4096)), dram);
    }
    const double first = again ? 285 : latency;
    EXPECT_NEAR(beyond_start(c.run(1), c), first + (times - 1) * latency + 20, 0.08 * times * latency) << latency;
  }
}

// A warp writes words of its local memory, and reads all of them twice.
TEST(Multiprocessor, LocalMemoryStaysInL1AsFarAsThereIsRoom) {
  const auto run = [](u32 words, u64 l1, u32 sms) {
    Code c;
    c.launch.l1_bytes = l1, c.launch.active_sms = sms;
    for (u32 round = 0; round < 3; ++round)
      for (u32 k = 0; k < words; ++k) {
        const u32 site = c.add_access(round ? Kind::Load : Kind::Store, 4);
        probe::Record r = Code::row(probe::Space::Local, 4);
        r.code.addresses = RecordCode::Addresses::Same, r.first = k * 4;
        c.touches(site, r);
        if (round) c.launch.code.rows.back().control.write_scoreboard = 0;
      }
    c.add(Kind::Plain, Pipe::None).control.wait = 1;
    return c.run(1);
  };
  const SmTime fits = run(64, 64 << 10, 132);
  EXPECT_EQ(fits.l1_sectors, 2 * 64 * 4);
  EXPECT_EQ(fits.l1_hits, fits.l1_sectors);
  EXPECT_EQ(fits.l2_bytes, 0);
  const SmTime large = run(512, 8 << 10, 132);  // 8 times as much
  EXPECT_LT(large.l1_hits, 0.3 * large.l1_sectors);
  EXPECT_GT(large.l2_bytes, 512 * 128);
  EXPECT_EQ(large.local_read, 0);  // 8 MiB of all multiprocessors: in L2
  const SmTime larger = run(8192, 8 << 10, 132);
  EXPECT_GT(larger.local_read, 0.3 * 2 * 8192 * 128);  // 138 MB
  EXPECT_GT(larger.local_written, 0.4 * 8192 * 128);
}

// What the assembler keeps in the frame has no record.
TEST(Multiprocessor, RegistersInTheFrameComeFromL1) {
  Code c;
  for (const Kind kind : {Kind::Store, Kind::Load}) {
    Row& r = c.add(kind, Pipe::Memory, 2);
    r.local = true, r.frame = 16;
    if (kind == Kind::Load) r.control.write_scoreboard = 0;
  }
  c.add(Kind::Plain, Pipe::None).control.wait = 1;
  const SmTime t = c.run(1);
  EXPECT_EQ(t.l1_hits, 4);
  EXPECT_NEAR(beyond_start(t, c), 32 + 10, 10);
}

// A load of a vector in two pieces (sass::Map::further) is one access: the second finds it on its way.
TEST(Multiprocessor, PiecesOfAVectorAreOneAccess) {
  const auto run = [](bool further) {
    Code c;
    const u32 site = c.add_access(Kind::Load, 4);
    c.touches(site, Code::row(probe::Space::Global, 16, 1 << 24), 16);
    c.touches(site, Code::row(probe::Space::Global, 16, 1 << 25), 16);
    for (u32 k = 1; k < 4; ++k) {
      c.add(Kind::Load, Pipe::Memory, 2).further = further && k % 2;
      c.launch.code.sites.back() = site, c.launch.code.bytes.back() = 4;
    }
    return c.run(1);
  };
  EXPECT_EQ(run(true).l1_sectors, 64);
  EXPECT_EQ(run(true).l1_hits, 32);
  EXPECT_EQ(run(false).l1_hits, 32);  // the last record stands for those that are missing
  EXPECT_EQ(run(true).l2_bytes, 32 * 32);
}

// Sectors of a line that come later do not hold up those that are there.
probe::Record lanes_apart(probe::Space space, u64 bytes, u64 first, u64 (&each)[32]) {
  probe::Record r = Code::row(space, 4);
  for (u32 l = 0; l < 32; ++l) each[l] = first + l * bytes;
  r.code.addresses = RecordCode::Addresses::Each, r.each = each;
  return r;
}

// One warp, nothing waits: oracle/timing/ways.txt, streams 32 and 16 (72.1 and 40.1 cycles a load); hits.txt, four
// (324.4 and 192.7 a turn).
TEST(Multiprocessor, ASubPartitionGetsAWayInTwoCycles) {
  for (const bool shared : {true, false}) {
    const auto run = [&](u32 ways) {
      Code c;
      const u32 times = 200;
      u64 each[32];
      for (u32 k = 0; k < times; ++k) {
        const u32 site = c.add_access(shared ? Kind::SharedLoad : Kind::Load, 4);
        c.launch.code.rows.back().control.write_scoreboard = 0;
        c.touches(site, lanes_apart(shared ? probe::Space::Shared : probe::Space::Global, ways * 4, 1 << 20, each));
      }
      c.add(Kind::Plain, Pipe::Fma).control.wait = 1;
      return c.run(1).cycles / times;
    };
    EXPECT_NEAR(run(32) - run(16), shared ? 72.1 - 40.1 : (324.4 - 192.7) / 4, 2.5) << shared;
  }
}

// oracle/timing/stores.txt, a CTA of 256 threads: a line of which each sector, or the only one, is stored in part takes
// a cycle more than its sectors.
TEST(Multiprocessor, WhatIsStoredLeavesBySectors) {
  for (const auto& [apart, lines, cycles] : {std::tuple(128u, 32u, 2.01), {64u, 16u, 3.01}, {32u, 8u, 5.03}}) {
    Code c;
    const u32 times = 400;
    u64 each[32];
    for (u32 k = 0; k < times; ++k)
      c.touches(c.add_access(Kind::Store, 4), lanes_apart(probe::Space::Global, apart, (1 << 20) + k * 4096, each));
    EXPECT_NEAR(beyond_start(c.run(1), c) / (times * lines), cycles, 0.04 * cycles) << apart;
  }
}

// oracle/timing/split.txt, bump_stride_1 64: a thread's turns take 670 ns each, and 1040 to 1100 where two warps have a
// part of each line.
TEST(Multiprocessor, WhoReadsBesideAStoreWaitsForDramAgain) {
  const auto run = [](bool behind) {
    Code c;
    c.launch.active_sms = c.launch.grid[0] = 132;
    const u32 turns = 16;
    for (u32 k = 0; k < turns; ++k) {
      const auto line = Code::row(probe::Space::Global, 4, (1 << 24) + k * 128);
      const u32 from = c.add_access(Kind::Load, 4);
      c.launch.code.rows.back().control.write_scoreboard = 0;
      c.touches(from, line, 4);
      const u32 to = c.add_access(Kind::Store, 4);
      c.launch.code.rows.back().control.wait = 1;
      c.touches(to, line);
      c.accesses[from].back().behind = behind;
    }
    return c.run(1).cycles / turns;
  };
  EXPECT_NEAR(run(true) - run(false), Parameters().dram_latency, 150);
}

TEST(Multiprocessor, AStreamFromDramHasItsShareOfTheRate) {
  Code c;
  c.launch.active_sms = c.launch.grid[0] = 132;
  const u32 times = 64, warps = 32;
  for (u32 k = 0; k < times; ++k) {
    const u32 site = c.add_access(Kind::Load, 16);
    c.touches(site, Code::row(probe::Space::Global, 16, (1 << 24) + k * 512), 16);
    c.launch.code.rows.back().bypass = true;  // each warp the same addresses: not from L1
    c.launch.code.rows.back().control.write_scoreboard = 0;
  }
  c.add(Kind::Plain, Pipe::None).control.wait = 1;
  const double bytes = double{times} * warps * 512;
  EXPECT_NEAR(c.run(warps).cycles, bytes / (2273.0 / 132) + 1400, 0.05 * bytes / (2273.0 / 132));
}

// Of L2, who has a CTA when others have half of one on average: as much as the way to two multiprocessors gives.
TEST(Multiprocessor, WhoHasMoreCtasThanOthersHasMoreOfL2) {
  const auto cycles = [](u32 ctas) {
    Code c;
    c.launch.active_sms = 132, c.launch.grid[0] = ctas;
    for (u32 k = 0; k < 64; ++k) {
      const u32 site = c.add_access(Kind::Load, 16);
      c.touches(site, Code::row(probe::Space::Global, 16, (1 << 24) + k * 512));
      c.launch.code.rows.back().bypass = true;
      c.launch.code.rows.back().control.write_scoreboard = 0;
    }
    c.add(Kind::Plain, Pipe::None).control.wait = 1;
    return c.run(16).cycles;
  };
  const Parameters p;
  EXPECT_NEAR(cycles(132) / cycles(66), p.l2_tpc_read / 2 / (p.l2_read / 132), 0.1);
}

// It comes first here to what all use later: the others leave DRAM to it.
TEST(Multiprocessor, WhoAsksForMoreThanOthersHasMoreOfDram) {
  const auto cycles = [](double usual) {
    Code code;
    code.launch.active_sms = code.launch.grid[0] = 132, code.launch.asked = usual, code.asked = 16;
    for (u64 k = 0; k < 64; ++k) {
      const u32 site = code.add_access(Kind::Load, 16);
      code.touches(site, Code::row(probe::Space::Global, 16, (1 << 20) + k * 512), 16);
      code.launch.code.rows.back().control.write_scoreboard = 0;
    }
    code.add(Kind::Plain, Pipe::None).control.wait = 1;
    return code.run(1).cycles;
  };
  const double alike = cycles(16), more = cycles(4), least = 64 * 512 / Parameters().l2_sm_read;
  EXPECT_GT(alike, 1.5 * more);
  EXPECT_GT(more, least);
}

// oracle/timing/async.txt, few: a load of one line takes 690 cycles, of four 797. Four loads of a line each must not
// be faster.
TEST(Multiprocessor, WhoWaitsForSeveralLinesWaitsForTheSlowest) {
  const auto cycles = [](u32 loads) {
    constexpr u32 kTurns = 64;
    Code code;
    for (u32 k = 0; k < kTurns * loads; ++k) {
      const u32 site = code.add_access(Kind::Load, 4);
      Row& r = code.launch.code.rows.back();
      r.control.write_scoreboard = 0, r.control.wait = k % loads == 0 ? 1 : 0;
      code.touches(site, Code::row(probe::Space::Global, 4, (1 << 20) + u64{k} * 128), 4);
    }
    return code.run(1).cycles / kTurns;
  };
  EXPECT_NEAR(cycles(1), 690, 40);
  EXPECT_NEAR(cycles(4), 797, 60);
}

TEST(Multiprocessor, TellsWhenAtomicsBegin) {
  Code code;
  code.add(Kind::Plain, Pipe::Alu, 2, 0, 15);
  code.touches(code.add_access(Kind::Reduction, 4), Code::row(probe::Space::Global, 4));
  const double first = code.run(1).first_atomic;
  EXPECT_GE(first, 15);
  EXPECT_LT(first, code.run(1).cycles);
  Code none;
  none.add(Kind::Plain, Pipe::Alu);
  EXPECT_TRUE(std::isinf(none.run(1).first_atomic));
}

TEST(Multiprocessor, ABarrierWaitsForTheLast) {
  Code c;
  c.add_chain(Kind::SharedLoad, Pipe::Memory, 2, 23, 50);
  c.add(Kind::Barrier, Pipe::None).control.wait = 1;
  const SmTime t = c.run(4);
  EXPECT_GT(t.stalls.back()[static_cast<u32>(Stall::Barrier)], 0u);
  EXPECT_NEAR(beyond_start(t, c), 50 * 23 + 30, 40);
}

TEST(Multiprocessor, AnMbarrierTellsOfABulkCopy) {
  Code c;
  const u32 init = c.add_access(Kind::Mbarrier, 0), expect = c.add_access(Kind::Mbarrier, 0);
  const u32 copy = c.add_access(Kind::Bulk, 0), wait = c.add_access(Kind::AwaitMbarrier, 0);
  c.touches(init, Code::sync(probe::SyncOp::Init, 64, 1));
  c.touches(expect, Code::sync(probe::SyncOp::Arrive, 64, 1 | u64{16384} << 32));
  c.touches(copy, Code::sync(probe::SyncOp::BulkLoad, 64, 16384));
  c.touches(wait, Code::sync(probe::SyncOp::Wait, 64, 0 | u64{1} << 32));
  // 16 KiB: 622 cycles from issue to mbarrier, and what a loop around the mbarrier takes.
  EXPECT_NEAR(beyond_start(c.run(1), c), 622 + 77, 70);
}

// One stage, as bulk_ring in oracle/timing/async.cu has it: each turn waits for the copy that it began.
TEST(Multiprocessor, EachTurnOfALoopBeginsOneBulkCopy) {
  Code c;
  const u32 init = c.add_access(Kind::Mbarrier, 0), expect = c.add_access(Kind::Mbarrier, 0);
  const u32 copy = c.add_access(Kind::Bulk, 0), wait = c.add_access(Kind::AwaitMbarrier, 0);
  const u32 turns = 8;
  c.touches(init, Code::sync(probe::SyncOp::Init, 64, 1));
  for (u32 k = 0; k < turns; ++k) {
    c.touches(expect, Code::sync(probe::SyncOp::Arrive, 64, 1 | u64{16384} << 32));
    c.touches(copy, Code::sync(probe::SyncOp::BulkRows, 1 << 20, probe::BulkRows{1024, 1, 0}.pack()));
    c.touches(copy, Code::sync(probe::SyncOp::BulkLoad, 64, 16384));
    c.touches(wait, Code::sync(probe::SyncOp::Wait, 64, (k & 1) | u64{1} << 32));
  }
  EXPECT_NEAR(beyond_start(c.run(1, 1, turns), c), turns * (622 + 77), turns * 70);
}

// 1024 loads of a warp each from the next CTA of the cluster, lanes so many words apart: what an H200 took, less what
// the kernel takes besides (oracle/timing/async.txt, far_load, less the same in a cluster of one).
TEST(Multiprocessor, SharedMemoryOfANeighbourIsFar) {
  for (const auto& [apart, device] : {std::pair(1u, 9'000.0), {2u, 16'100.0}, {5u, 38'800.0}, {32u, 96'500.0}}) {
    Code c;
    u64 addresses[probe::kLanes];
    for (u32 l = 0; l < probe::kLanes; ++l) addresses[l] = probe::kCtaStride + u64{4} * (l * apart);
    probe::Record r = Code::row(probe::Space::Shared, 4);
    r.code.addresses = RecordCode::Addresses::Each, r.each = addresses;
    for (u32 k = 0; k < 128; ++k) c.touches(c.add_access(Kind::Load, 4), r);
    for (Row& row : c.launch.code.rows) row.control.write_scoreboard = 0;
    c.add(Kind::Plain, Pipe::None).control.wait = 1;
    EXPECT_NEAR(beyond_start(c.run(8), c), device, 0.15 * device) << apart;
  }
}

TEST(Multiprocessor, MoreBlocksThanFitComeOneAfterTheOther) {
  Code c;
  c.add_chain(Kind::SharedLoad, Pipe::Memory, 2, 23, 100);
  const SmTime t = c.run(1, 3);
  ASSERT_EQ(t.ends.size(), 3u);
  EXPECT_NEAR(t.ends[2] - t.ends[1], 100 * 23 + c.parameters.cta_restart, 30);
}

TEST(Multiprocessor, WhatWaitsForNobodyGoesOn) {
  Code c;
  const u32 init = c.add_access(Kind::Mbarrier, 0), wait = c.add_access(Kind::AwaitMbarrier, 0);
  c.touches(init, Code::sync(probe::SyncOp::Init, 64, 1));
  c.touches(wait, Code::sync(probe::SyncOp::Wait, 64, 0 | u64{1} << 32));
  EXPECT_EQ(c.run(2).issued, 6u);
}

// oracle/timing/h100/halos.txt, copies_async: eight CTAs of eight warps, groups of copies that L1 has.
TEST(Multiprocessor, CopiesAndTheirGroupsTakeTheUnitOfLoads) {
  for (const auto& [bytes, copies, cycles] :
       {std::tuple{4u, 1u, 6.77}, {4u, 2u, 8.96}, {4u, 8u, 21.68}, {8u, 1u, 7.41}, {8u, 4u, 17.47}}) {
    Code c;
    for (u32 group = 0; group < 16; ++group) {
      for (u32 k = 0; k < copies; ++k)
        c.touches(c.add_access(Kind::Copy, bytes), Code::row(probe::Space::Global, bytes, (1 << 20) + k * 1024));
      c.add(Kind::CommitCopies, Pipe::Memory, 2);
      c.add(Kind::AwaitCopies, Pipe::None);
    }
    EXPECT_NEAR(c.run(8, 8, 32).cycles / (64 * 16 * 32) / cycles, 1, 0.1) << bytes << ' ' << copies;
  }
}

// The same, copies_async 16 1 0 0 1: past L1 a group of one takes 336 cycles.
TEST(Multiprocessor, CopiesPastL1ComeFromL2) {
  sass::Instruction i;
  i.name = "LDGSTS.E.BYPASS.128";
  EXPECT_TRUE(row_of(i, Parameters()).bypass);
  i.name = "LDGSTS.E.64";
  EXPECT_FALSE(row_of(i, Parameters()).bypass);
  Code c;
  c.touches(c.add_access(Kind::Copy, 16), Code::row(probe::Space::Global, 16));
  c.launch.code.rows.back().bypass = true;
  c.add(Kind::CommitCopies, Pipe::Memory, 2);
  c.add(Kind::AwaitCopies, Pipe::None);
  EXPECT_NEAR(c.run(8, 1, 128).cycles / 128 / 336, 1, 0.08);
}

}  // namespace
}  // namespace us::timing
