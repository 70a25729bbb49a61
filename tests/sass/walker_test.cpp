// SPDX-License-Identifier: Apache-2.0
// Small PTX and machine code beside it, written down by hand, and how often each block of the code is executed.
#include <gtest/gtest.h>

#include <algorithm>

#include "ptx/ptx.h"
#include "ptx/statement_lines.h"
#include "sass/executed.h"

namespace us::sass {
namespace {

constexpr u32 kAll = ~u32{0};

const Opcode* opcode_of(Flow flow) {
  static const std::vector<Opcode> all = [] {
    std::vector<Opcode> made(static_cast<std::size_t>(Flow::Collective) + 1);
    for (std::size_t k = 0; k < made.size(); ++k) made[k].flow = static_cast<Flow>(k);
    return made;
  }();
  return &all[static_cast<std::size_t>(flow)];
}

// One instruction: the text of its PTX statement, its name, operands, and where it may go (as an index).
struct Line {
  std::string_view statement;
  std::string name, operands = "";
  int target = -1;
  bool guarded = false;
};

Flow flow_of(std::string_view name) {
  return name == "BRA"     ? Flow::Branch
         : name == "EXIT"  ? Flow::Exit
         : name == "BSSY"  ? Flow::Region
         : name == "BSYNC" ? Flow::Join
         : name == "CALL"  ? Flow::Call
         : name == "RET"   ? Flow::Return
                           : Flow::Next;
}

class Kernel {
 public:
  Kernel(const std::string& body, const std::vector<Line>& code) {
    text_ = ptx::one_statement_per_line(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" +
        body + "}\n");
    auto module = ptx::parse(ptx::without_locations(text_), "k");
    EXPECT_TRUE(module);
    if (!module) return;
    module_ = std::move(*module);
    program_ = std::make_unique<Program>(*module_, lines_of_sites(*module_));
    function_.name = "k";
    function_.places.emplace(0, "k");
    for (const Line& l : code) add(l);
    execution_ = std::make_unique<Execution>(*program_, function_);
  }
  // Blocks of PTX by number, each with its lanes; then how often each block of the code was executed.
  void run(const std::vector<PathStep>& path) { execution_->add(path); }
  std::vector<u64> warps() const {
    std::vector<u64> out;
    for (const Executed& e : execution_->blocks()) out.push_back(e.warps);
    return out;
  }
  std::vector<u64> lanes() const {
    std::vector<u64> out;
    for (const Executed& e : execution_->blocks()) out.push_back(e.lanes);
    return out;
  }
  const Execution& execution() const { return *execution_; }

 private:
  void add(const Line& l) {
    Instruction i;
    i.offset = static_cast<u32>(function_.instructions.size() * 16);
    i.name = l.name, i.operands = l.operands;
    i.opcode = opcode_of(flow_of(l.name));
    i.conditional = l.guarded;
    i.memory.bytes = l.name.ends_with(".64") ? 8 : 4;
    if (l.guarded) i.guard.predicate = 0;
    if (l.name == "BSSY") i.writes.push_back({Bank::Barrier, 0, 1});
    if (l.name == "BSYNC") i.reads.push_back({Bank::Barrier, 0, 1});
    if (l.target >= 0) i.target = static_cast<u64>(l.target) * 16;
    function_.instructions.push_back(i);
    function_.ptx_lines.push_back(line_of(l.statement));
  }
  u32 line_of(std::string_view statement) const {
    const std::size_t at = statement.empty() ? std::string::npos : text_.find(statement);
    EXPECT_TRUE(statement.empty() || at != std::string::npos) << statement;
    if (at == std::string::npos) return 0;
    return static_cast<u32>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n')) + 1;
  }

  std::string text_;
  std::unique_ptr<ir::Module> module_;
  std::unique_ptr<Program> program_;
  Function function_;
  std::unique_ptr<Execution> execution_;
};

std::vector<PathStep> path(std::initializer_list<u32> blocks, u32 lanes = kAll) {
  std::vector<PathStep> out;
  for (const u32 b : blocks) out.push_back({b, lanes});
  return out;
}
std::vector<PathStep> loop(u32 before, u32 body, u32 times, u32 after) {
  std::vector<PathStep> out{{before, kAll}};
  out.insert(out.end(), times, {body, kAll});
  out.push_back({after, kAll});
  return out;
}
using List = std::vector<u64>;

const std::string kLoop = R"(
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 0;
L:
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd1+4096], %r2;
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, 100;
  @%p1 bra L;
  bar.sync 0;
  ret;
)";
constexpr std::string_view kLoad = "ld.global", kStore = "st.global", kAdd = "add.s32", kBack = "@%p1 bra",
                           kBar = "bar.sync";

TEST(Walker, LoopThatTheCompilerKept) {
  Kernel k(kLoop, {{kLoad, "LDG.E"},
                   {kStore, "STG.E"},
                   {kAdd, "IADD3", "R1, R1, 0x1, RZ"},
                   {kBack, "BRA", "", 0, true},
                   {kBar, "BAR.SYNC"},
                   {"ret", "EXIT"}});
  k.run(loop(0, 1, 7, 2));
  EXPECT_EQ(k.warps(), (List{7, 1}));
  EXPECT_EQ(k.lanes(), (List{7 * 32, 32}));
  EXPECT_EQ(k.execution().weakness(), "");
  // The simple rule says the same: nothing was copied.
  EXPECT_EQ(k.execution().by_statement()[0].warps, 7u);
  EXPECT_EQ(k.execution().by_statement()[4].warps, 1u);
}

// Four iterations at once, and what is left one by one: 10 = 2 * 4 + 2.
const std::vector<Line> kUnrolled = {{kLoad, "LDG.E"},
                                     {kLoad, "LDG.E"},
                                     {kLoad, "LDG.E"},
                                     {kLoad, "LDG.E"},
                                     {kStore, "STG.E"},
                                     {kStore, "STG.E"},
                                     {kStore, "STG.E"},
                                     {kStore, "STG.E"},
                                     {kAdd, "IADD3", "R1, R1, 0x4, RZ"},
                                     {kBack, "BRA", "", 0, true},
                                     {kBack, "BRA", "", 14, true},
                                     {kLoad, "LDG.E"},
                                     {kStore, "STG.E"},
                                     {kBack, "BRA", "", 11, true},
                                     {kBar, "BAR.SYNC"},
                                     {"ret", "EXIT"}};

TEST(Walker, UnrolledLoopWithRemainder) {
  Kernel k(kLoop, kUnrolled);
  k.run(loop(0, 1, 10, 2));
  EXPECT_EQ(k.warps(), (List{2, 1, 2, 1}));
}

TEST(Walker, UnrolledLoopWithoutRemainder) {
  Kernel k(kLoop, kUnrolled);
  k.run(loop(0, 1, 12, 2));
  EXPECT_EQ(k.warps(), (List{3, 1, 0, 1}));
  // The simple rule counts every copy for each iteration, and is far off: nobody trusts the map then.
  EXPECT_NE(k.execution().weakness(), "");
}

// The compiler loads once what four iterations load; its addition says that they are four.
TEST(Walker, InductionSaysHowOftenALoopIsUnrolled) {
  Kernel k(kLoop, {{kLoad, "LDG.E"},
                   {kStore, "STG.E"},
                   {kAdd, "IADD3", "R1, R1, 0x4, RZ"},
                   {kBack, "BRA", "", 0, true},
                   {kBar, "BAR.SYNC"},
                   {"ret", "EXIT"}});
  k.run(loop(0, 1, 8, 2));
  EXPECT_EQ(k.warps(), (List{2, 1}));
}

const std::string kBranch = R"(
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 8;
  @!%p1 bra M;
  st.global.u32 [%rd1], %r1;
M:
  bar.sync 0;
  ret;
)";

// Lanes 0 to 7 store.
const std::vector<PathStep> kApart = {{0, kAll}, {1, 0xff}, {2, kAll}};

TEST(Walker, BranchThatBecameAGuard) {
  Kernel k(kBranch, {{"mov.u32", "S2R"}, {kStore, "STG.E", "", -1, true}, {kBar, "BAR.SYNC"}, {"ret", "EXIT"}});
  k.run(kApart);
  EXPECT_EQ(k.warps(), (List{1}));
  EXPECT_EQ(k.lanes(), (List{32}));
}

// Those that branch over the store come to the join by themselves.
TEST(Walker, LanesThatAreApartJoin) {
  Kernel k(kBranch, {{"mov.u32", "S2R"},
                     {"", "BSSY", "", 5},
                     {"@!%p1 bra", "BRA", "", 4, true},
                     {kStore, "STG.E"},
                     {"", "BSYNC"},
                     {kBar, "BAR.SYNC"},
                     {"ret", "EXIT"}});
  k.run(kApart);
  EXPECT_EQ(k.warps(), (List{1, 1, 2, 1}));
  EXPECT_EQ(k.lanes(), (List{32, 8, 32, 32}));
}

std::vector<Visit> of_two(const Map& m, const std::vector<u32>& one, const std::vector<u32>& other) {
  const LanesOnWay ways[] = {{1, &one}, {2, &other}};
  return converge(m, ways);
}

// Blocks 0, 1 (a loop), 2: who leaves the loop sooner goes on alone, unless a region around it makes it wait.
TEST(Converge, LanesThatLeaveALoop) {
  Map m;
  m.blocks.resize(3);
  m.blocks[0].next = {1}, m.blocks[1].next = {1, 2};
  std::vector<Visit> got = of_two(m, {0, 1, 2}, {0, 1, 1, 2});
  std::ranges::sort(got);
  EXPECT_EQ(got, (std::vector<Visit>{{0, 3}, {1, 2}, {1, 3}, {2, 1}, {2, 2}}));
  m.blocks[0].regions = {{0, true, false}};
  m.blocks[2].joins = true;
  m.blocks.emplace_back();
  m.blocks[2].next = {3};
  got = of_two(m, {0, 1, 2, 3}, {0, 1, 1, 2, 3});
  EXPECT_EQ(got.back(), (Visit{3, 3}));
  EXPECT_EQ(std::ranges::count(got, 3u, &Visit::block), 1);
  EXPECT_EQ(std::ranges::count(got, 2u, &Visit::block), 2);
}

// Block 0 calls 2 (which returns to 1): who does not call waits at the join behind the call.
TEST(Converge, ACallGoesFirst) {
  Map m;
  m.blocks.resize(5);
  m.blocks[0].next = {1, 2}, m.blocks[0].regions = {{0, true, false}};  // opens, and parts
  m.blocks[1].next = {4}, m.blocks[1].back = 2;                         // calls 4
  m.blocks[2].next = {3}, m.blocks[2].joins = true;
  m.blocks[4].returns = true;
  const std::vector<Visit> got = of_two(m, {0, 1, 4, 2, 3}, {0, 2, 3});
  EXPECT_EQ(got, (std::vector<Visit>{{0, 3}, {1, 1}, {4, 1}, {2, 2}, {2, 1}, {3, 3}}));
}

TEST(Walker, TwoLoadsThatAreOneHere) {
  Kernel k(R"(
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 0;
L:
  ld.global.u32 %r2, [%rd1];
  ld.global.u32 %r3, [%rd1+4];
  st.global.u32 [%rd1+4096], %r2;
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, 100;
  @%p1 bra L;
  ret;
)",
           // Peeled: two loads. In the loop: one of eight bytes.
           {{kLoad, "LDG.E"},
            {"ld.global.u32 %r3", "LDG.E"},
            {kStore, "STG.E"},
            {kBack, "BRA", "", 4, false},
            {kLoad, "LDG.E.64"},
            {kStore, "STG.E"},
            {kBack, "BRA", "", 4, true},
            {"ret", "EXIT"}});
  k.run(loop(0, 1, 5, 2));
  EXPECT_EQ(k.warps(), (List{1, 4, 1}));
}

// Sums of floating point in shared memory: each is a loop of its own, which turns as often as lanes meet, and none
// stands for the other, though both have one address.
TEST(Walker, LoopsAroundASwap) {
  constexpr std::string_view first = "atom.shared.add.f32 %f2", second = "atom.shared.add.f32 %f3";
  Kernel k(R"(
  .reg .f32 %f<9>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 0;
L:
  atom.shared.add.f32 %f2, [%r2], %f1;
  atom.shared.add.f32 %f3, [%r2], %f1;
  add.s32 %r1, %r1, 1;
  setp.lt.s32 %p1, %r1, 100;
  @%p1 bra L;
  ret;
)",
           {{kAdd, "IADD3"},
            {first, "LDS"},
            {first, "ATOMS.CAST.SPIN"},
            {first, "BRA", "", 1, true},
            {second, "LDS"},
            {second, "ATOMS.CAST.SPIN"},
            {second, "BRA", "", 4, true},
            {kBack, "BRA", "", 0, true},
            {"ret", "EXIT"}});
  k.run(loop(0, 1, 5, 2));
  EXPECT_EQ(k.warps(), (List{5, 5, 5, 5, 1}));
}

// Two of the four words are not used: two instructions load the others, and are one execution. Unrolled, they are two.
TEST(Walker, PiecesOfAVector) {
  constexpr std::string_view load = "ld.global.v4.f32";
  const std::string body = R"(
  .reg .f32 %f<9>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 0;
  mov.u32 %r2, %ntid.x;
L:
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
  add.f32 %f5, %f1, %f4;
  add.f32 %f6, %f6, %f5;
  add.s32 %r1, %r1, %r2;
  setp.lt.s32 %p1, %r1, 100;
  @%p1 bra L;
  ret;
)";
  Kernel k(body, {{load, "LDG.E", "R4, desc[UR4][R2.64]"},
                  {load, "LDG.E", "R5, desc[UR4][R2.64+0xc]"},
                  {"add.f32 %f5", "FADD"},
                  {"add.f32 %f6", "FADD"},
                  {kBack, "BRA", "", 0, true},
                  {"ret", "EXIT"}});
  k.run(loop(0, 1, 6, 2));
  EXPECT_EQ(k.warps(), (List{6, 1}));
  EXPECT_EQ(k.execution().map().further, (std::vector<bool>{false, true, false, false, false, false}));
  Kernel two(body, {{load, "LDG.E", "R4, desc[UR4][R2.64]"},
                    {load, "LDG.E", "R6, desc[UR4][R2.64+0x200]"},
                    {load, "LDG.E", "R5, desc[UR4][R2.64+0xc]"},
                    {load, "LDG.E", "R7, desc[UR4][R2.64+0x20c]"},
                    {"add.f32 %f5", "FADD"},
                    {"add.f32 %f6", "FADD"},
                    {"add.f32 %f5", "FADD"},
                    {"add.f32 %f6", "FADD"},
                    {kBack, "BRA", "", 0, true},
                    {"ret", "EXIT"}});
  two.run(loop(0, 1, 6, 2));
  EXPECT_EQ(two.warps(), (List{3, 1}));
}

// A generic atomic of 64 bits, which asks for the address's space where it is in no global memory, and loops there.
TEST(Walker, GenericAtomicsAreOfGlobalMemory) {
  constexpr std::string_view atom = "atom.add.u64";
  Kernel k(R"(
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 0;
  mov.u32 %r2, %ntid.x;
L:
  atom.add.u64 %rd2, [%rd1], 1;
  add.s32 %r1, %r1, %r2;
  setp.lt.s32 %p1, %r1, 100;
  @%p1 bra L;
  ret;
)",
           {{atom, "ATOM.E.ADD.64.STRONG.GPU"},
            {atom, "BRA", "", 6, true},
            {atom, "QSPC.E.S"},
            {atom, "LDS.64"},
            {atom, "ATOMS.CAST.SPIN.64"},
            {atom, "BRA", "", 3, true},
            {kBack, "BRA", "", 0, true},
            {"ret", "EXIT"}});
  k.run(loop(0, 1, 6, 2));
  EXPECT_EQ(k.warps(), (List{6, 0, 0, 6, 1}));
}

// A store that the code never makes: the path cannot be followed, and that is said.
// Where a block that only returns is shared by several exits, of which some are guards.
TEST(Walker, ABlockThatOnlyReturns) {
  Kernel k(R"(
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 8;
  bar.sync 0;
  @!%p1 bra M;
  st.global.u32 [%rd1], %r1;
M:
  ret;
)",
           {{"mov.u32", "S2R"},
            {"bar.sync", "BAR.SYNC"},
            {"@!%p1 bra", "EXIT", "", -1, true},
            {kStore, "STG.E"},
            {"ret", "EXIT"}});
  k.run(path({0, 2}));
  EXPECT_EQ(k.warps(), (List{1, 0}));
  k.run({{0, kAll}, {1, 0xff}, {2, kAll}});
  EXPECT_EQ(k.warps(), (List{2, 1}));
  EXPECT_EQ(k.lanes(), (List{64, 8}));
}

// A wait whose first try stands in front of its loop: what the way out is left with is a jump, and the compiler gave
// its line to an instruction of the loop.
TEST(Walker, AJumpTellsNothingOfWhatHasItsLine) {
  Kernel k(R"(
  ld.param.u64 %rd1, [p];
L:
  mbarrier.try_wait.shared.b64 %p1, [%r1], %rd2;
  @!%p1 bra S;
  bra.uni D;
S:
  setp.lt.s32 %p2, %r2, 16;
  @%p2 bra L;
  nanosleep.u32 %r3;
  bra.uni L;
D:
  st.global.u32 [%rd1], %r2;
  ret;
)",
           {{"mbarrier.try_wait", "SYNCS.PHASECHK"},
            {"@!%p1 bra", "BRA", "", 8, true},
            {"setp.lt", "ISETP.GE"},
            {"bra.uni D", "YIELD"},
            {"@%p2 bra", "BRA", "", 6, true},
            {"nanosleep", "NANOSLEEP"},
            {"mbarrier.try_wait", "SYNCS.PHASECHK"},
            {"@!%p1 bra", "BRA", "", 2, true},
            {"st.global", "STG.E"},
            {"ret", "EXIT"}});
  k.run(path({0, 1, 2, 5}));
  EXPECT_EQ(k.warps(), (List{1, 0, 0, 0, 1}));
}

// A quotient has a short way, and a subroutine for lanes that need it: blocks 1 and 2 stand for its shortest and
// longest way.
TEST(Walker, DetoursAreLanesOwn) {
  constexpr std::string_view kDivide = "div.u64";
  const std::vector<Line> code = {{"ld.global", "LDG.E.64"},
                                  {kDivide, "BSSY", "", 8},
                                  {kDivide, "BRA", "", 6, true},
                                  {kDivide, "MOV"},
                                  {kDivide, "CALL", "", 10},
                                  {kDivide, "BRA", "", 7},
                                  {kDivide, "I2F"},
                                  {kDivide, "BSYNC"},
                                  {"st.global", "STG.E.64"},
                                  {"ret", "EXIT"},
                                  {kDivide, "BRA", "", 12, true},
                                  {kDivide, "FFMA"},
                                  {kDivide, "RET"}};
  const auto executed = [&](const std::vector<PathStep>& path) {
    Kernel k(
        "ld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\ndiv.u64 %rd3, %rd2, %rd1;\n"
        "st.global.u64 [%rd1], %rd3;\nret;\n",
        code);
    k.run(path);
    EXPECT_EQ(k.execution().lost(), 0u);
    return k.warps();
  };
  EXPECT_EQ(executed({{0, kAll}}), (List{1, 0, 0, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(executed({{0, kAll}, {1, kAll}}), (List{1, 1, 1, 0, 1, 1, 1, 0, 1}));
  EXPECT_EQ(executed({{0, kAll}, {2, kAll}}), (List{1, 1, 1, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(executed({{0, kAll}, {2, 0xff}}), (List{1, 1, 1, 1, 2, 1, 1, 1, 1}));
}

TEST(Walker, NoWay) {
  Kernel k(kBranch, {{"mov.u32", "S2R"},
                     {"@!%p1 bra", "EXIT", "", -1, true},
                     {kStore, "STG.E"},
                     {kBar, "BAR.SYNC"},
                     {kBar, "BRA", "", 2}});
  k.run(path({0, 1, 2}));
  EXPECT_EQ(k.execution().lost(), 1u);
  EXPECT_EQ(k.execution().weakness(), "1 of 1 warps have no way through the machine code");
}

TEST(StatementLines, OnePerLine) {
  const std::string text = ptx::one_statement_per_line(
      ".visible .entry k() // a kernel\n{\n\t.reg .b32 %r<3>;\n$L__1:\n\t.loc 1 7 3\n\tmov.u32 %r1, 1; add.s32 %r2,\n"
      "  %r1, 1; /* { */ { .reg .pred p; mov.b64 {%r1, %r2}, 5; }\n\tret;\n}\n.global .u32 x[2] = {1, 2};\n");
  EXPECT_EQ(
      text,
      ".visible .entry k() \n{\n.reg .b32 %r<3>;\n$L__1:\n.loc 1 7 3\nmov.u32 %r1, 1;\nadd.s32 %r2,   %r1, 1;\n{\n"
      ".reg .pred p;\nmov.b64 {%r1, %r2}, 5;\n}\nret;\n}\n\n.global .u32 x[2] = {1, 2};\n");
  EXPECT_EQ(ptx::without_locations("a\n  .loc 1 2 3\nb"), "a\n\nb");
}

}  // namespace
}  // namespace us::sass
