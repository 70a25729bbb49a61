// SPDX-License-Identifier: Apache-2.0
// Sectors and wavefronts of every access that an H200 was measured with (oracle/timing/accesses.txt).
#include "timing/accesses.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>

#include "timing/shared_cost.h"

namespace us::timing {
namespace {

using probe::RecordCode;

struct Launch {
  std::string kind;
  probe::Record record;
  std::array<u64, probe::kLanes> address;
  std::map<std::string, double> counted;  // by Nsight Compute's name
};

std::vector<Launch> recorded() {
  std::ifstream in(US_SOURCE_DIR "/oracle/timing/accesses.txt");
  std::vector<std::string> names;
  std::vector<Launch> all;
  for (std::string line; std::getline(in, line);) {
    const std::size_t bar = line.find(" | ");
    std::istringstream what(line.substr(0, bar)), counts(bar == line.npos ? "" : line.substr(bar + 3));
    if (line.starts_with("# ")) {
      if (!line.starts_with("# |")) continue;
      std::istringstream list(line.substr(3));
      for (std::string n; list >> n;) names.push_back(n);
      continue;
    }
    Launch l;
    auto& r = l.record;
    what >> l.kind >> r.code.bytes >> std::hex >> r.lanes >> std::dec;
    for (u64& a : l.address) what >> a;
    r.code.addresses = RecordCode::Addresses::Each;
    r.code.kind = l.kind.ends_with("load")    ? RecordCode::Kind::Read
                  : l.kind.ends_with("store") ? RecordCode::Kind::Write
                                              : RecordCode::Kind::Atomic;
    for (const std::string& n : names) counts >> l.counted[n];
    all.push_back(std::move(l));
  }
  return all;
}

std::string text(const Launch& l) {
  std::ostringstream s;
  s << l.kind << " " << l.record.code.bytes << " lanes " << std::hex << l.record.lanes << std::dec;
  for (const u64 a : l.address) s << " " << a;
  return s.str();
}

TEST(Accesses, TakeWhatTheDeviceCounts) {
  const auto all = recorded();
  ASSERT_EQ(all.size(), 938u);
  for (Launch l : all) {
    SCOPED_TRACE(text(l));
    l.record.each = l.address.data();
    const auto counted = [&](const char* name) { return static_cast<u32>(l.counted.at(name)); };
    if (l.kind.starts_with("shared")) {
      const Wavefronts w = wavefronts_of(l.record);
      EXPECT_EQ(w.wavefronts, counted("memory_l1_wavefronts_shared"));
      EXPECT_EQ(w.ideal, counted("memory_l1_wavefronts_shared_ideal"));
      EXPECT_EQ(w.wavefronts - w.passes, counted("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"));
    } else {
      const Sectors s = sectors_of(l.record);
      EXPECT_EQ(s.sectors, counted("memory_l2_theoretical_sectors_global"));
      EXPECT_EQ(s.ideal, counted("memory_l2_theoretical_sectors_global_ideal"));
      EXPECT_EQ(s.lines, counted("memory_l1_tag_requests_global"));
    }
  }
}

TEST(Accesses, OfNoLaneTakeNothing) {
  probe::Record r;
  r.code.bytes = 4;
  EXPECT_EQ(sectors_of(r).sectors, 0u);
  EXPECT_EQ(wavefronts_of(r).wavefronts, 0u);
}

// Lanes that add to one word take turns, 32 cycles; those that count there, ATOMS.POPC.INC, go together: 1.07.
TEST(SharedCost, LanesThatCountAtOneAddressGoTogether) {
  const Parameters p;
  const std::array<u64, probe::kLanes> one_word{};
  probe::Record record;
  record.code = {.kind = RecordCode::Kind::Atomic, .addresses = RecordCode::Addresses::Each, .bytes = 4};
  record.lanes = ~0u, record.each = one_word.data();
  Row r;
  r.kind = Row::Kind::SharedAtomic;
  EXPECT_NEAR(shared_cost(r, record, wavefronts_of(record), p).cycles, 32, 3);
  r.counts = true;
  EXPECT_EQ(shared_cost(r, record, wavefronts_of(record), p).cycles, 1);
}

}  // namespace
}  // namespace us::timing
