// SPDX-License-Identifier: Apache-2.0
// Which kernels ask the host for memory ahead (llvm/fetch_ahead.cpp), and how far: seen in LLVM's IR.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "codegen/jit.h"
#include "ptx/ptx.h"

namespace us::codegen {
namespace {

constexpr u32 kThreads = 128;

// %d1: the array's address; %d2: 4 * tid.x; %r1: ctaid.x; %r3: n.
std::string kernel(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n) {\n"
         ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<4>;\n.shared .b32 s;\n"
         "ld.param.u64 %d1, [a];\nld.param.u32 %r3, [n];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n"
         "mul.wide.u32 %d2, %r2, 4;\n" +
         body + "ret;\n}\n";
}

// Blocks read `bytes` after each other's.
std::string by_block(u32 bytes) {
  return kernel(
      fmt::format("mul.wide.u32 %d3, %r1, {};\nadd.s64 %d4, %d1, %d3;\nadd.s64 %d4, %d4, %d2;\n"
                  "ld.global.u32 %r4, [%d4];\nst.shared.u32 [s], %r4;\n",
                  bytes));
}

// A loop's turns do.
std::string by_turn(const std::string& step) {
  return kernel("add.s64 %d4, %d1, %d2;\nmov.u32 %r5, 0;\nagain: ld.global.u32 %r4, [%d4];\nst.shared.u32 [s], %r4;\n" +
                step + "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 20;\n@%p1 bra again;\n");
}

std::string ir_of(const std::string& text) {
  auto m = ptx::parse(text, "k.ptx");
  EXPECT_TRUE(m) << (m ? "" : m.diags()[0].message);
  if (!m) return "";
  Options o;
  std::string ir;
  o.dump_after = "emit";
  o.show = [&ir](std::string_view text) { ir += text; };
  Jit jit(o);
  Variant v;
  v.block = {kThreads, 1, 1};
  const auto code = jit.compile(**m, "k", v);
  EXPECT_TRUE(code) << (code ? "" : code.diags()[0].message);
  return ir;
}

// How far each is ahead of what the first lane reads, in bytes.
std::set<long> distances(const std::string& text) {
  const std::string ir = ir_of(text);
  std::set<long> all;
  const std::regex fetch(R"(call void @llvm\.prefetch\.p0\(ptr (%[\w.]+),)");
  for (std::sregex_iterator k(ir.begin(), ir.end(), fetch), end; k != end; ++k) {
    std::smatch from;
    const std::regex address((*k)[1].str() + R"( = getelementptr i8, ptr %[\w.]+, i64 (-?\d+))");
    all.insert(std::regex_search(ir, from, address) ? std::stol(from[1]) : 0);
  }
  return all;
}

// A warp reads 128 bytes, two of the host's lines.
TEST(FetchAhead, WhereBlocksReadFarFromEachOther) {
  EXPECT_EQ(distances(by_block(4096)), (std::set<long>{4096, 4096 + 64}));
  EXPECT_EQ(distances(by_block(65536)), (std::set<long>{65536, 65536 + 64}));
}

TEST(FetchAhead, APageButNotMoreThanEightBlocks) {
  EXPECT_EQ(distances(by_block(1024)), (std::set<long>{4096, 4096 + 64}));
  EXPECT_EQ(distances(by_block(256)), (std::set<long>{8 * 256, 8 * 256 + 64}));
}

TEST(FetchAhead, WhereTheTurnsOfALoopDo) {
  EXPECT_EQ(distances(by_turn("add.s64 %d4, %d4, 8192;\n")), (std::set<long>{8192, 8192 + 64}));
  EXPECT_EQ(distances(by_turn("add.s64 %d4, %d4, -8192;\n")), (std::set<long>{-8192, -8192 + 64}));
}

TEST(FetchAhead, NotWhereBlocksContinueOneStream) { EXPECT_EQ(distances(by_block(4 * kThreads)), std::set<long>()); }

TEST(FetchAhead, NotWhereAllReadTheSame) {
  EXPECT_EQ(distances(by_block(0)), std::set<long>());
  EXPECT_EQ(distances(by_turn("")), std::set<long>());
}

TEST(FetchAhead, NotWhereNobodyKnowsHowFar) {
  EXPECT_EQ(distances(by_turn("mul.wide.u32 %d5, %r3, 4;\nadd.s64 %d4, %d4, %d5;\n")), std::set<long>());
}

}  // namespace
}  // namespace us::codegen
