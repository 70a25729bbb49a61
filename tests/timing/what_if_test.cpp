// SPDX-License-Identifier: Apache-2.0
// Launches without one cause of waiting: what is changed, and what is left alone.
#include <gtest/gtest.h>

#include <bit>

#include "timing/accesses.h"
#include "timing/what_if.h"

namespace us::timing {
namespace {

using probe::RecordCode, probe::Space;

// A warp's access of words that lie so many bytes apart.
struct Access {
  Access(RecordCode::Kind kind, Space space, u32 lanes, u64 stride) {
    const RecordCode c{kind, RecordCode::Addresses::Each, space, 4};
    words[0] = 7 | u64{lanes} << 32;
    words[1] = 3 | u64{c.pack() | 2} << 32;
    for (u32 l = 0; l < probe::kLanes; ++l) words[2 + l] = 4096 + l * stride;
  }
  u64 words[2 + probe::kLanes];
};

probe::Record after(WhatIf what, const Access& a) {
  TimedCta cta{0, {TimedWarp{{}, {{TimedAccess{a.words, 0}}}}}};
  const Changed c(what, TimedLaunch(), {cta}, Parameters());
  probe::Record r, before;
  probe::read_record(c.ctas()[0].warps[0].accesses[0][0].words, r);
  probe::read_record(a.words, before);
  EXPECT_EQ(c.any(), r.code != before.code);
  EXPECT_EQ(r.site, before.site);
  EXPECT_EQ(r.cta, before.cta);
  EXPECT_EQ(r.warp, before.warp);
  EXPECT_EQ(std::popcount(r.lanes), std::popcount(before.lanes));
  return r;
}
const auto kRead = RecordCode::Kind::Read;

TEST(WhatIf, CoalescedTakesAsFewSectorsAsItsBytes) {
  for (const u32 lanes : {~0u, 0xf0f0f0f0u}) {
    const probe::Record r = after(WhatIf::Coalesced, Access(kRead, Space::Global, lanes, 256));
    EXPECT_EQ(sectors_of(r).sectors, static_cast<u32>(std::popcount(lanes)) * 4 / 32);
  }
}

TEST(WhatIf, CoalescedCostsDramLess) {
  const Access a(kRead, Space::Global, ~0u, 256);
  const TimedCta cta{0, {TimedWarp{{}, {{TimedAccess{a.words, 32}}}}}};
  const Changed c(WhatIf::Coalesced, TimedLaunch(), {cta}, Parameters());
  EXPECT_EQ(c.ctas()[0].warps[0].accesses[0][0].cost, 4);  // 32 sectors hold what 4 could
}

TEST(WhatIf, NoConflictsTakeOneWavefront) {
  const probe::Record r = after(WhatIf::NoBankConflicts, Access(kRead, Space::Shared, ~0u, 128));
  EXPECT_EQ(wavefronts_of(r).wavefronts, 1u);
}

TEST(WhatIf, OthersAreLeftAlone) {
  using Each = RecordCode::Addresses;
  EXPECT_EQ(after(WhatIf::Coalesced, Access(kRead, Space::Global, ~0u, 4)).code.addresses, Each::Each);
  EXPECT_EQ(after(WhatIf::Coalesced, Access(kRead, Space::Shared, ~0u, 128)).code.addresses, Each::Each);
  EXPECT_EQ(after(WhatIf::NoBankConflicts, Access(kRead, Space::Global, ~0u, 256)).code.addresses, Each::Each);
  EXPECT_EQ(after(WhatIf::Coalesced, Access(RecordCode::Kind::Atomic, Space::Global, ~0u, 256)).code.addresses,
            Each::Each);
}

TEST(WhatIf, PipesAndRates) {
  TimedLaunch l;
  l.code.rows.resize(2);
  l.code.rows[0].pipe = Pipe::Fma, l.code.rows[0].interval = 2;
  l.code.rows[1].pipe = Pipe::Memory, l.code.rows[1].interval = 2;
  const Changed pipes(WhatIf::FastPipes, l, {}, Parameters());
  EXPECT_EQ(pipes.launch().code.rows[0].interval, 0);
  EXPECT_EQ(pipes.launch().code.rows[1].interval, 2);
  l.store_share = l.atomic_share = 0.5;
  const Changed memory(WhatIf::FastMemory, l, {}, Parameters());
  EXPECT_EQ(memory.parameters().store_packet, 0);
  EXPECT_EQ(memory.launch().store_share + memory.launch().atomic_share, 0);
  EXPECT_GT(memory.parameters().dram_rate, 1e6 * Parameters().dram_rate);
  EXPECT_EQ(memory.parameters().dram_latency, Parameters().dram_latency);
  l.resident = 1;
  EXPECT_FALSE(Changed(WhatIf::OneMoreCta, l, {TimedCta()}, Parameters()).any());
  const Changed more(WhatIf::OneMoreCta, l, {TimedCta(), TimedCta()}, Parameters());
  EXPECT_TRUE(more.any());
  EXPECT_EQ(more.launch().resident, 2u);
}

}  // namespace
}  // namespace us::timing
