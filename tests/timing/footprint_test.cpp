// SPDX-License-Identifier: Apache-2.0
// What DRAM gives and takes, against oracle/timing/load.txt and l2_kept.txt: what an H200 counted of kernels of one
// kind of access.
#include "timing/footprint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "timing/slices.h"

namespace us::timing {
namespace {

constexpr double kMega = 1e6;
double bytes(u64 sectors) { return static_cast<double>(sectors) * kSectorBytes; }

// As load.cu mixes thread numbers.
u32 mix(u32 x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}

void store(Footprint& f, u64 address, u32 n) {
  u8 of[4] = {};
  for (u32 k = 0; k < n; ++k) ++of[(address + k) % kLineBytes / kSectorBytes];
  f.write(address / kLineBytes, of);
}

// gather 4 270336 1056 256 4194304: 4.13 MB, where single sectors would be 3.65 MB.
TEST(Footprint, DramGivesPairsOfSectors) {
  const Parameters p;
  Footprint f(p);
  for (u32 k = 0; k < 270336; ++k) {
    const u64 word = mix(k) & ((1u << 20) - 1);
    f.read(word / 32, 1u << word % 32 / 8);
  }
  EXPECT_NEAR(bytes(f.finish().read), 4.13 * kMega, 0.02 * kMega);
}

// write_one 16 4194304: of 67.1 MB DRAM gets 39.9 MB by the end, of 16.8 MB nothing.
// An H100 keeps less: h100/load.txt.
TEST(Footprint, WhatWasWrittenStaysInL2) {
  struct Case {
    std::string_view device;
    u32 all;
    double written;
  };
  for (const auto& [device, all, written] :
       {Case{"h200", 1u << 26, 39.9}, {"h200", 1u << 24, 0.0}, {"h100", 1u << 26, 44.8}, {"h100", 1u << 24, 0.0}}) {
    Footprint f(parameters_of(device));
    for (u64 a = 0; a < all; a += kLineBytes) store(f, a, kLineBytes);
    const Footprint::Traffic t = f.finish();
    EXPECT_NEAR(bytes(t.written), written * kMega, 0.3 * kMega) << device;
    EXPECT_EQ(t.read, 0u);
  }
}

// copy_one 16 4194304 16384 256: 43.9 MB of 67.1 MB, less than without reading stays.
TEST(Footprint, ReadingTakesRoom) {
  const Parameters p;
  Footprint f(p);
  for (u64 a = 0; a < 1u << 26; a += kLineBytes) {
    f.read(a / kLineBytes, 15);
    store(f, (u64{1} << 32) + a, kLineBytes);
  }
  const Footprint::Traffic t = f.finish();
  EXPECT_NEAR(bytes(t.read), 67.1 * kMega, 0.1 * kMega);
  EXPECT_NEAR(bytes(t.written), 43.9 * kMega, 4 * kMega);
}

// scatter 4 4194304 16384 256 1073741824: 130.6 MB are read to complete sectors, 130.8 MB written.
TEST(Footprint, PartsOfSectorsAreReadFirst) {
  const Parameters p;
  Footprint f(p);
  for (u32 k = 0; k < 4194304; ++k) store(f, u64{mix(k) & ((1u << 28) - 1)} * 4, 4);
  const Footprint::Traffic t = f.finish();
  EXPECT_NEAR(bytes(t.read), 130.6 * kMega, 4 * kMega);
  EXPECT_NEAR(bytes(t.written), 130.8 * kMega, 4 * kMega);
}

// One launch of effects/l2_kept.cu, and what it takes of DRAM.
Footprint::Traffic launch(Footprint& f, const std::string& kind, u64 mib, bool odd) {
  const u64 lines = (mib << 20) / kLineBytes;
  constexpr u8 kWhole[4] = {32, 32, 32, 32};
  f.begin(1);
  if (kind == "reads" || kind == "updates") {
    for (u64 k = 0; k < lines; ++k) {
      f.read(k, 15);
      if (kind == "updates") f.write(k, kWhole);
    }
  } else if (kind == "adds") {
    const u64 part = lines / 4, to = odd ? 0 : 2 * part;
    for (u64 k = 0; k < part; ++k) {
      for (const u64 a : {2 * part - to, part, to}) f.read(a + k, 15);
      f.write(to + k, kWhole);
    }
  } else {
    const u64 part = lines / 2, from = kind == "swaps" && odd ? part : 0;
    for (u64 k = 0; k < part; ++k) f.read(from + k, 15), f.write(part - from + k, kWhole);
  }
  return f.finish();
}

// Launch after launch on the same memory: oracle/timing/l2_kept.txt, the mean of the fourth and the fifth.
TEST(Footprint, WhatL2KeepsBetweenLaunches) {
  std::ifstream in(US_SOURCE_DIR "/oracle/timing/l2_kept.txt");
  int n = 0;
  double off = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string kind, bar;
    u64 mib = 0;
    double read = 0, written = 0;
    words >> kind >> mib >> bar >> read >> written;
    ASSERT_TRUE(words) << line;
    if (mib < 28 || mib > 56) continue;
    const Parameters p;
    Footprint f(p, Footprint::Between::Kept);
    double ours_read = 0, ours_written = 0;
    for (int k = 0; k < 5; ++k) {
      const Footprint::Traffic t = launch(f, kind, mib, k % 2);
      if (k < 3) continue;
      ours_read += bytes(t.read) / 2 / (1 << 20), ours_written += bytes(t.written) / 2 / (1 << 20);
    }
    const auto most = static_cast<double>(mib);
    EXPECT_NEAR(ours_read, read, 0.25 * most) << line;
    EXPECT_NEAR(ours_written, written, (kind == "swaps" ? 0.3 : 0.25) * most) << line;
    off += std::abs(ours_read - read) / most + std::abs(ours_written - written) / most;
    ++n;
  }
  ASSERT_EQ(n, 40);
  EXPECT_LT(off / (2 * n), 0.06);
}

// Each word of a line whose number has the remainder k by `of`.
Lines::Line every(u64 line, u32 of, u32 k) {
  Lines::Line l{line, 15, {}, {}};
  for (u32 word = k; word < 32; word += of) {
    l.touched |= Lines::Bytes::from(word * 4, word * 4 + 4);
    l.bytes[word / 8] += 4;
  }
  return l;
}
// oracle/timing/parts.txt, gaps: one warp stores 16 words of records, one after the other: 1.1 requests a line; two
// warps, 15.1.
TEST(StoreBuffer, LinesWaitForWhatElseIsStoredOfThem) {
  for (u64 lines : {16u, 32u}) {
    const Parameters p;
    StoreBuffer b(p);
    u32 anew = 0;
    for (u32 k = 0; k < 16; ++k)
      for (u64 line = 0; line < lines; ++line) anew += b.add(every(line, 16, k)).anew;
    EXPECT_EQ(anew, lines == 16 ? 16u : 16u * 32);
  }
}
TEST(StoreBuffer, LinesLeaveWhileNothingElseIsToDo) {
  const Parameters p;
  StoreBuffer b(p);
  EXPECT_TRUE(b.add(every(1, 2, 0)).anew);
  EXPECT_TRUE(b.add(every(2, 2, 0)).anew);
  b.leave(*b.oldest(), 100);
  EXPECT_TRUE(b.leaving());
  EXPECT_FALSE(b.has(1));
  EXPECT_TRUE(b.add(every(1, 2, 1)).anew);
  EXPECT_FALSE(b.add(every(2, 2, 1)).anew);
}
// oracle/timing/joins.txt, passes 4 2 1: 2400 ns, behind launches that have written 138 MB.
TEST(Footprint, SmallLaunchesDoNotPutBackWhatOthersLeft) {
  const Parameters p;
  Footprint f(p, Footprint::Between::Kept);
  constexpr u8 kWhole[4] = {32, 32, 32, 32};
  f.begin(100);
  for (u64 line = 0; line < 1 << 20; ++line) f.write(line, kWhole);
  EXPECT_GT(bytes(f.finish().written), 60 * kMega);
  f.begin(100);
  for (u64 line = 0; line < 16; ++line) f.read((2 << 20) + line, 15);
  EXPECT_LT(f.finish().written, 256u);
}

// oracle/timing/joins.txt: what leaves keeps its place until it is out.
TEST(StoreBuffer, HasTwentyPlaces) {
  const Parameters p;
  StoreBuffer b(p);
  for (u64 line = 0; line < 20; ++line) {
    EXPECT_TRUE(b.room(0));
    b.add(every(line, 2, 0));
  }
  EXPECT_FALSE(b.room(0));
  b.leave(*b.oldest(), 100);
  EXPECT_FALSE(b.room(99));
  EXPECT_EQ(b.next_out(), 100);
  EXPECT_TRUE(b.room(100));
}
TEST(StoreBuffer, BytesOfOneWordLeaveTogether) {
  const Parameters p;
  StoreBuffer b(p);
  for (u32 k = 0; k < 4; ++k) {
    Lines::Line l{7, 15, {8, 8, 8, 8}, {}};
    for (u64 word = 0; word < 32; ++word) l.touched |= Lines::Bytes::from(word * 4 + k, word * 4 + k + 1);
    EXPECT_EQ(b.add(l).anew, k == 0);
  }
}
TEST(StoreBuffer, WhatOverwritesLeavesWithIt) {
  const Parameters p;
  for (const bool joins : {true, false}) {
    StoreBuffer b(p, joins);
    EXPECT_TRUE(b.add(every(7, 4, 0)).anew);
    EXPECT_FALSE(b.add(every(7, 4, 1)).anew);
    const StoreBuffer::Stored again = b.add(every(7, 4, 0));
    EXPECT_TRUE(again.again);
    EXPECT_EQ(again.anew, !joins);
    EXPECT_EQ(again.cost.packets > 0, !joins);
  }
}
TEST(StoreBuffer, WhatCompletesSectorsCostsAsIfStoredAtOnce) {
  const Parameters p;
  StoreBuffer b(p);
  const double first = b.add(every(7, 2, 0)).cost.packets;
  EXPECT_GT(first, 4);
  EXPECT_NEAR(first + b.add(every(7, 2, 1)).cost.packets, 4, 1e-9);
}

// Reductions on 8192 words, oracle/timing/mixes.txt integer_words 13: 61228 cycles for 16 of each of 67584 threads. All
// slices at an even share of the work would take 28000.
TEST(Slices, SixtyFourKibibytesAreServedByAPartition) {
  const Parameters p;
  Slices s(p);
  for (u64 line = 0; line < 256; ++line) s.add(line, 67584.0 * 16 / 256 * p.slice_atomic);
  EXPECT_NEAR(s.busiest() / 61228, 1, 0.15);
  Slices all(p);
  for (u64 line = 0; line < 8192; ++line) all.add(line, 1);
  EXPECT_NEAR(all.share_of_busiest() * p.l2_slices, 1, 0.05);
}

// Who comes at about the same point of its way as the least far reader waits as long as that one. Of two that are far
// apart one has waited, who is first here, whichever it is on the device.
TEST(Footprint, WhoReadsAtTheSamePointWaits) {
  const Parameters p;
  Footprint f(p);
  f.begin(100);
  EXPECT_GT(f.read(7, 15, {0, 50}), 0);
  EXPECT_EQ(f.read(7, 15, {1, 80}), 0);  // it finds the line there
  EXPECT_EQ(f.read(7, 15, {2, 20}), 0);  // in turn, what was counted already
  EXPECT_EQ(f.read(7, 15, {3, 40}), 0);  // behind the one before now
  EXPECT_LT(f.read(7, 15, {4, 20}), 0);
}

// oracle/timing/merging.txt, words one at a time: requests that came to L2, of 512 lines for each CTA. Where CTAs of
// one multiprocessor share lines (66 and 132 of 528 that lie apart), L1 joins them, too.
TEST(Footprint, RequestsOfAGpcGoTogether) {
  struct Case {
    bool next;  // CTAs that follow each other share lines, else those that lie a part of the grid apart
    u32 sharers, ctas;
    double requests;
  };
  for (const Case& c : {Case{true, 1, 132, 67584},
                        {true, 2, 132, 33792},
                        {true, 3, 132, 24576},
                        {true, 4, 132, 17408},
                        {true, 6, 132, 22528},
                        {true, 12, 132, 18141},
                        {true, 132, 132, 17887},
                        {true, 4, 528, 69632},
                        {true, 12, 528, 72083},
                        {true, 132, 528, 67220},
                        {false, 2, 132, 67584},
                        {false, 11, 132, 49152},
                        {false, 12, 132, 45056},
                        {false, 22, 132, 24576},
                        {false, 33, 132, 18432},
                        {false, 66, 132, 18571},
                        {false, 3, 528, 270336},
                        {false, 22, 528, 98665},
                        {false, 33, 528, 65868}}) {
    const Parameters p;
    Footprint f(p);
    f.begin(c.ctas);
    for (u32 cta = 0; cta < c.ctas; ++cta) f.read(c.next ? cta / c.sharers : cta % (c.ctas / c.sharers), 15, {cta, 1});
    const Footprint::Traffic t = f.finish();
    EXPECT_EQ(t.asked, c.ctas);
    EXPECT_NEAR(static_cast<double>(t.asked - t.joined) / (c.requests / 512), 1, 0.13) << c.sharers << " of " << c.ctas;
  }
  // At other times, and again by the same CTA.
  const Parameters p;
  Footprint f(p);
  f.begin(132);
  f.read(7, 15, {0, 1}), f.read(7, 15, {1, 50}), f.read(7, 15, {1, 60});
  const Footprint::Traffic t = f.finish();
  EXPECT_EQ(t.asked, 2u);
  EXPECT_EQ(t.joined, 0u);
}

// merging.txt, apart 2 16 4 528: 69 MB that two CTAs at work read at once come from DRAM once (22.0 us; 35.2 us for
// each its own), although L2 has not room for all that is read between the two here.
TEST(Footprint, WhatIsReadAtOnceIsThere) {
  const Parameters p;
  Footprint f(p);
  constexpr u32 kCtas = 528, kLines = 2048;
  f.begin(kCtas);
  for (u32 cta = 0; cta < kCtas; ++cta)
    for (u32 k = 0; k < kLines; ++k) f.read(u64{cta % 264} * kLines + k, 15, {cta, k});
  EXPECT_EQ(f.finish().read, u64{264} * kLines * 4);
}

// oracle/timing/pieces.txt, read 262144 64: streams that begin at half lines are as fast as others. Half a line alone
// takes longer (dram_lone_read).
TEST(Footprint, HalvesOfLinesThatFollowEachOtherAreNotAlone) {
  const Parameters p;
  Footprint f(p);
  f.begin(100);
  EXPECT_FLOAT_EQ(f.read(4, 12, {0, 1}), 2 * static_cast<float>(p.dram_lone_read));
  for (u64 line = 5; line < 8; ++line) EXPECT_EQ(f.read(line, 15, {0, 1}), 4);
  EXPECT_EQ(f.read(8, 3, {0, 1}), 2);   // behind what just came
  EXPECT_EQ(f.read(8, 12, {1, 1}), 2);  // the other half, at once
  EXPECT_FLOAT_EQ(f.read(100, 3, {0, 1}), 2 * static_cast<float>(p.dram_lone_read));
  EXPECT_FLOAT_EQ(f.read(100, 12, {0, 9}), 2 * static_cast<float>(p.dram_lone_read));  // much later
}

TEST(Footprint, ReadsBesideWhatWasStored) {
  const Parameters p;
  Footprint f(p);
  f.begin(100);
  f.read(4, 3);
  EXPECT_FALSE(f.behind_a_store());
  store(f, 4 * kLineBytes, 64);
  f.read(4, 3);
  EXPECT_FALSE(f.behind_a_store());  // it is there
  f.read(4, 12);
  EXPECT_TRUE(f.behind_a_store());
  f.read(5, 15);
  EXPECT_FALSE(f.behind_a_store());
}

// Loads from L2 take 259 to 347 cycles over multiprocessors and addresses.
TEST(Slices, LinesLieNearAndFar) {
  double sum = 0, least = 1, most = -1;
  for (u64 line = 0; line < 2048; line += 2) {
    const double way = Slices::way(line);
    EXPECT_EQ(way, Slices::way(line + 1));
    sum += way, least = std::min(least, way), most = std::max(most, way);
  }
  EXPECT_NEAR(sum / 1024, 0, 0.1);
  EXPECT_LT(least, -0.9);
  EXPECT_GT(least, -1.01);
  EXPECT_GT(most, 0.9);
  EXPECT_LT(most, 1.01);
}

// add_u32 4 1048576 4096 256, 32 and 65536 places: 449484 and 22176 cycles.
TEST(Slices, OneLineIsServedByOneOfThem) {
  const Parameters p;
  for (const auto& [places, cycles] : {std::pair{32u, 449484.0}, {65536u, 22176.0}}) {
    Slices s(p);
    for (u32 first = 0; first < 1048576; first += probe::kLanes) {
      probe::Record r;
      u64 each[probe::kLanes];
      for (u32 l = 0; l < probe::kLanes; ++l) each[l] = u64{mix(first + l) & (places - 1)} * 4;
      r.lanes = ~0u, r.code.bytes = 4, r.code.addresses = probe::RecordCode::Addresses::Each, r.each = each;
      for (const AtomicSectors::Sector& sector : AtomicSectors(r))
        s.add(sector.sector / 4, slice_cost(p, sector, false));
    }
    EXPECT_NEAR(s.busiest() / cycles, 1, 0.25) << places;
  }
}

// oracle/timing/h100/dense.txt, dense_u32 256 8 1056 256: each warp adds to a whole line, all to the same eight, in
// 160 000 cycles.
TEST(Slices, WholeSectorsTakeLess) {
  const Parameters& p = parameters_of("NVIDIA H100 80GB HBM3");
  Slices s(p);
  for (u32 op = 0; op < 8 * 8 * 1056; ++op) {
    probe::Record r;
    r.lanes = ~0u, r.code.bytes = 4, r.code.addresses = probe::RecordCode::Addresses::Row,
    r.first = op % 8 * kLineBytes;
    for (const AtomicSectors::Sector& sector : AtomicSectors(r)) {
      EXPECT_TRUE(sector.whole());
      s.add(sector.sector / 4, slice_cost(p, sector, false));
    }
  }
  EXPECT_NEAR(s.busiest() / 160000, 1, 0.1);
}

}  // namespace
}  // namespace us::timing
