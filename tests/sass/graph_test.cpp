// SPDX-License-Identifier: Apache-2.0
// Instructions written down by hand, their control flow and control words.
#include "sass/graph.h"

#include <gtest/gtest.h>

#include <random>

namespace us::sass {
namespace {

constexpr u64 kAlways = 0x7000, kP0 = 0, kNotP0 = 0x8000;
constexpr u64 kControl = u64{0x7e0} << 41 | u64{2} << 41;  // no scoreboards, stall 2

// A branch's distance counts from the next instruction: its low 8 bits (of words) at 16, the rest at 34.
Word branch(u64 opcode, u64 guard, i64 bytes) {
  const u64 words = static_cast<u64>(bytes / 4);
  return {opcode | guard | (words & 0xff) << 16 | (words >> 8) << 34,
          kControl | u64{0x3800000} | ((words >> 38) & 0x3ffff)};
}
Word bra(u64 guard, i64 bytes) { return branch(0x947, guard, bytes); }
Word exit_if(u64 guard) { return {0x94d | guard, kControl | 0x3800000}; }
Word bssy(u64 barrier, i64 bytes) { return {0x945 | kAlways | barrier << 16 | u64(bytes) << 32, kControl | 0x3800000}; }
Word bsync(u64 barrier) { return {0x941 | kAlways | barrier << 16, kControl | 0x3800000}; }
Word nop() { return {0x918 | kAlways, kControl}; }

Function function_of(const std::vector<Word>& words) {
  Function f;
  f.name = "f";
  for (const Word w : words) f.instructions.push_back(decode(w, static_cast<u32>(f.instructions.size() * 16)));
  f.places.emplace(0, "f");
  return f;
}

using List = std::vector<u32>;

TEST(Graph, BranchesAndFallsThrough) {
  const Function f = function_of({nop(), bra(kP0, 16), nop(), exit_if(kAlways)});
  EXPECT_EQ(f.instructions[1].text(), "@P0 BRA 0x30");
  const Graph g = make_graph(f);
  ASSERT_EQ(g.blocks.size(), 3u);
  EXPECT_EQ(g.blocks[0].successors, (List{2, 1}));
  EXPECT_EQ(g.blocks[1].successors, (List{2}));
  EXPECT_EQ(g.blocks[2].successors, (List{}));
  EXPECT_EQ(g.post_dominator, (List{2, 2, Graph::kNone}));
}

TEST(Graph, LoopBackwards) {
  const Function f = function_of({nop(), bra(kNotP0, -32), exit_if(kAlways), bra(kAlways, -16)});
  EXPECT_EQ(f.instructions[1].text(), "@!P0 BRA 0x0");
  const Graph g = make_graph(f);
  ASSERT_EQ(g.blocks.size(), 3u);
  EXPECT_EQ(g.blocks[0].successors, (List{0, 1}));
  EXPECT_EQ(g.reachable, (std::vector<bool>{true, true, false}));  // the padding behind the end
}

// BSYNC of a region goes where its BSSY says, not to the next instruction.
TEST(Graph, RegionsJoin) {
  const Function f = function_of({bssy(0, 0x50), bra(kP0, 16), bsync(0), nop(), bsync(0), nop(), exit_if(kAlways)});
  EXPECT_EQ(f.instructions[0].text(), "BSSY B0, 0x60");
  const Graph g = make_graph(f);
  const auto block_at = [&](u32 i) { return g.blocks[g.block_of[i]]; };
  EXPECT_EQ(block_at(2).successors, (List{g.block_of[6]}));
  EXPECT_EQ(block_at(4).successors, (List{g.block_of[6]}));
  EXPECT_FALSE(g.reachable[g.block_of[5]]);
  EXPECT_EQ(g.post_dominator[0], g.block_of[6]);
}

TEST(Graph, ConditionalExit) {
  const Graph g = make_graph(function_of({exit_if(kP0), nop(), exit_if(kAlways)}));
  ASSERT_EQ(g.blocks.size(), 2u);
  EXPECT_EQ(g.blocks[0].successors, (List{1}));
  EXPECT_EQ(g.post_dominator, (List{Graph::kNone, Graph::kNone}));
}

TEST(Decode, ControlWord) {
  const Control c = Control::of({0, u64{0x123457} << 41});
  const u64 v = 0x123457;  // stall 4 bits, no yield 1, set 3, free 3, wait 6, reuse 4
  EXPECT_EQ(c, (Control{.stall = v & 15,
                        .yield = (v >> 4 & 1) == 0,
                        .write_scoreboard = v >> 5 & 7,
                        .read_scoreboard = v >> 8 & 7,
                        .wait = v >> 11 & 63,
                        .reuse = v >> 17 & 15}));
}

TEST(Decode, SaysWhatItDoesNotKnow) {
  const Instruction none = decode({0xfff | kAlways, kControl}, 0);
  EXPECT_EQ(none.opcode, nullptr);
  EXPECT_FALSE(none.complete());
  EXPECT_EQ(none.text(), "?fff");
  // FFMA R1, R2, R3, R4 with a bit that no row explains
  const Word ffma{0x223 | kAlways | 1 << 16 | 2 << 24 | u64{3} << 32, kControl | 4};
  EXPECT_EQ(decode(ffma, 0).text(), "FFMA R1, R2, R3, R4");
  EXPECT_TRUE(decode(ffma, 0).complete());
  const Instruction odd = decode({ffma.lo | u64{1} << 50, ffma.hi}, 0);
  EXPECT_FALSE(odd.complete());
  EXPECT_EQ(odd.unknown, (Word{u64{1} << 50, 0}));
  // the second value of a size: none
  const Instruction size = decode({0x981 | kAlways, kControl | u64{7} << 9}, 0);
  EXPECT_TRUE(size.unknown_value);
}

TEST(Decode, RegistersInARow) {
  // LDG.E.128 R4, desc[UR6][R2.64]
  const Instruction i = decode({0x981 | kAlways | 4 << 16 | 2 << 24 | u64{6} << 32, kControl | 0xc1e1d00}, 0);
  EXPECT_EQ(i.text(), "LDG.E.128 R4, desc[UR6][R2.64]");
  EXPECT_EQ(i.writes, (std::vector<Access>{{Bank::Register, 4, 4}}));
  EXPECT_EQ(i.reads, (std::vector<Access>{{Bank::Register, 2, 2}, {Bank::Uniform, 6, 2}}));
  EXPECT_EQ(i.memory.space, Memory::Space::Global);
  EXPECT_EQ(i.memory.bytes, 16);
}

// Whatever the bits are, something is said about them, and graphs of them end.
TEST(Decode, SurvivesAnything) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Word> words;
    for (u64 n = random() % 40 + 1; n; --n) {
      Word w{random(), random()};
      if (random() % 2) {
        const auto& rows = all_opcodes();
        const Opcode& o = rows[random() % rows.size()];
        w.lo = (w.lo & ~u64{0x1ff}) | o.code;
        if (random() % 2) w = bra(random() % 16 << 12, static_cast<i64>(random() % 1280) - 640);
      }
      words.push_back(w);
    }
    const Function f = function_of(words);
    for (const Instruction& i : f.instructions) EXPECT_FALSE(i.text().empty());
    EXPECT_EQ(make_graph(f).block_of.size(), words.size());
  }
}

}  // namespace
}  // namespace us::sass
