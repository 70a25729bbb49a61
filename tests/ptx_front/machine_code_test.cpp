// SPDX-License-Identifier: Apache-2.0
// Fat binaries that hold machine code, and what compilers note beside PTX.
#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "ptx/fatbin.h"

namespace us::ptx {
namespace {

constexpr u64 kLz4 = 0x2000, kZstd = 0x8000, kArchSpecific = 0x100000;

struct Part {
  u16 kind = 2;  // machine code
  u32 arch = 90;
  std::string bytes;
  u64 flags = 0;
  std::string options{};
};

template <class T>
void put(std::string& s, std::size_t at, T v) {
  std::memcpy(&s[at], &v, sizeof v);
}

std::string fat_binary(const std::vector<Part>& parts) {
  std::string out(16, '\0');
  for (const Part& p : parts) {
    std::string body = p.bytes;
    if (p.flags & kZstd) {
      body.resize(ZSTD_compressBound(p.bytes.size()));
      body.resize(ZSTD_compress(body.data(), body.size(), p.bytes.data(), p.bytes.size(), 3));
    } else if (p.flags & kLz4) {
      body.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(p.bytes.size()))));
      body.resize(static_cast<std::size_t>(LZ4_compress_default(
          p.bytes.data(), body.data(), static_cast<int>(p.bytes.size()), static_cast<int>(body.size()))));
    }
    const bool packed = p.flags & (kLz4 | kZstd);
    std::string head(72 + (p.options.size() + 7) / 8 * 8, '\0');
    put<u16>(head, 0, p.kind);
    put(head, 4, static_cast<u32>(head.size()));
    put(head, 8, u64{body.size()});
    put(head, 16, packed ? static_cast<u32>(body.size()) : 0u);
    put(head, 28, p.arch);
    put(head, 40, p.flags | 0x11);
    put(head, 56, packed ? u64{p.bytes.size()} : u64{0});
    put(head, 64, u32{72});
    put(head, 68, static_cast<u32>(p.options.size()));
    p.options.copy(&head[72], p.options.size());
    out += head + body;
  }
  put<u32>(out, 0, 0xBA55ED50);
  put<u16>(out, 4, 1);
  put<u16>(out, 6, 16);
  put(out, 8, u64{out.size() - 16});
  return out;
}

using Codes = std::vector<std::string>;
const std::string ptx = "\n.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";

TEST(MachineCode, TheBestThatRuns) {
  const std::string zeros(3000, 'z');
  const std::string all = fat_binary({{.arch = 80, .bytes = "eighty"},
                                      {.kind = 1, .bytes = ptx},
                                      {.bytes = "ninety"},
                                      {.bytes = zeros, .flags = kZstd | kArchSpecific},
                                      {.arch = 100, .bytes = "hundred"}});
  EXPECT_EQ(find_machine_code(all.data(), {}), Codes{zeros});
  EXPECT_EQ(find_machine_code(all.data(), {90, false}), Codes{"ninety"});
  EXPECT_EQ(find_machine_code(all.data(), {86}), Codes{"eighty"});
  EXPECT_EQ(find_machine_code(all.data(), {75}), Codes{});
  EXPECT_EQ(find_machine_code(fat_binary({{.bytes = zeros, .flags = kLz4}}).data(), {}), Codes{zeros});
  EXPECT_EQ(find_machine_code(ptx.c_str(), {}), Codes{});
}

TEST(MachineCode, OfWrappers) {
  const std::string linked = fat_binary({{.bytes = "linked"}}),
                    one = fat_binary({{.bytes = "one"}, {.kind = 1, .bytes = ptx}});
  struct Wrapper {
    u32 magic = 0x466243b1, version;
    const void* fatbin;
    const void* list;
  };
  const Wrapper v1{.version = 1, .fatbin = one.data(), .list = nullptr};
  EXPECT_EQ(find_machine_code(&v1, {}), Codes{"one"});
  const void* list[] = {one.data(), nullptr};
  const Wrapper v2{.version = 2, .fatbin = linked.data(), .list = list};
  EXPECT_EQ(find_machine_code(&v2, {}), (Codes{"linked", "one"}));
}

TEST(MachineCode, WhatIsDamagedIsLeftOut) {
  std::string packed = fat_binary({{.bytes = std::string(3000, 'z'), .flags = kZstd}});
  packed[16 + 72 + 5] ^= 0x55;
  EXPECT_EQ(find_machine_code(packed.data(), {}), Codes{});
  std::string large = fat_binary({{.bytes = "some"}});
  put(large, 16 + 8, u64{1} << 40);
  EXPECT_EQ(find_machine_code(large.data(), {}), Codes{});
}

TEST(MachineCode, OptionsBesidePtx) {
  const auto options = [](std::string s) {
    const auto image = find_ptx(std::span(reinterpret_cast<const u8*>(s.data()), s.size()), {});
    return image ? image->options : "damaged";
  };
  const std::string s = fat_binary({{.kind = 1, .bytes = ptx, .options = " -maxrregcount=32 "}});
  EXPECT_EQ(options(s), " -maxrregcount=32 ");
  std::string outside = s;
  put(outside, 16 + 68, u32{1000});
  EXPECT_EQ(options(outside), "");
}

}  // namespace
}  // namespace us::ptx
