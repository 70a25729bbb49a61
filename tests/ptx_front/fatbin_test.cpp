// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "ptx/fatbin.h"
#include "ptx/ptx.h"

namespace us::ptx {
namespace {

enum class Pack { None, Lz4, Zstd };
struct Part {
  u16 kind = 1;
  u32 arch = 90;
  std::string text;
  Pack pack = Pack::None;
  u64 flags = 0;
};

std::string module_text(const char* target, const char* entry) {
  return std::string("\n.version 9.0\n.target ") + target + "\n.address_size 64\n.visible .entry " + entry +
         "() { ret; }\n";
}

template <class T>
void put(std::vector<u8>& v, std::size_t at, T x) {
  std::memcpy(v.data() + at, &x, sizeof x);
}

std::vector<u8> make(const std::vector<Part>& parts) {
  std::vector<u8> out(16);
  for (const Part& p : parts) {
    std::string body = p.text;
    u64 flags = p.flags | 0x11;
    if (p.pack == Pack::Lz4) {
      body.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(p.text.size()))));
      body.resize(static_cast<std::size_t>(LZ4_compress_default(
          p.text.data(), body.data(), static_cast<int>(p.text.size()), static_cast<int>(body.size()))));
      flags |= 0x2000;
    } else if (p.pack == Pack::Zstd) {
      body.resize(ZSTD_compressBound(p.text.size()));
      body.resize(ZSTD_compress(body.data(), body.size(), p.text.data(), p.text.size(), 3));
      flags |= 0x8000;
    }
    const u32 packed = p.pack == Pack::None ? 0 : static_cast<u32>(body.size());
    body.resize((body.size() + 7) / 8 * 8);
    const std::size_t at = out.size();
    out.resize(at + 80 + body.size());
    put<u16>(out, at, p.kind);
    put<u16>(out, at + 2, 0x101);
    put<u32>(out, at + 4, 80);
    put<u64>(out, at + 8, body.size());
    put<u32>(out, at + 16, packed);
    put<u32>(out, at + 28, p.arch);
    put<u64>(out, at + 40, flags);
    put<u64>(out, at + 56, packed ? p.text.size() : 0);
    std::memcpy(out.data() + at + 80, body.data(), body.size());
  }
  put<u32>(out, 0, 0xBA55ED50);
  put<u16>(out, 4, 1);
  put<u16>(out, 6, 16);
  put<u64>(out, 8, out.size() - 16);
  return out;
}

TEST(Fatbin, EveryPacking) {
  for (const Pack p : {Pack::None, Pack::Lz4, Pack::Zstd}) {
    const auto bytes = make({{1, 90, module_text("sm_90", "k"), p}});
    const auto image = find_ptx(std::span<const u8>(bytes), {});
    ASSERT_TRUE(image);
    const auto m = parse(image->ptx, "m");
    ASSERT_TRUE(m);
    EXPECT_NE((*m)->find("k"), nullptr);
  }
}

TEST(Fatbin, PicksTheBestArchitecture) {
  const std::vector<Part> parts{{1, 80, "80"},
                                {1, 90, "90"},
                                {1, 90, "90a", Pack::None, 0x100000},
                                {1, 100, "100"},
                                {1, 100, "100f", Pack::None, 0x200000},
                                {2, 90, "elf"}};
  const auto bytes = make(parts);
  const auto pick = [&](u32 sm, bool a) {
    const auto r = find_ptx(std::span<const u8>(bytes), {sm, a});
    return r ? std::string(r->ptx.c_str()) : std::string("none");
  };
  EXPECT_EQ(pick(90, true), "90a");
  EXPECT_EQ(pick(90, false), "90");
  EXPECT_EQ(pick(89, true), "80");
  EXPECT_EQ(pick(120, true), "100");
  EXPECT_EQ(pick(75, true), "none");
}

TEST(Fatbin, OnlyMachineCodeSaysHowToCompile) {
  const auto bytes = make({{2, 90, "elf"}});
  const auto r = find_ptx(std::span<const u8>(bytes), {});
  ASSERT_FALSE(r);
  EXPECT_TRUE(is_no_ptx(r.diags()));
  EXPECT_NE(r.diags()[0].message.find("-gencode arch=compute_90,code=compute_90"), std::string::npos);
  EXPECT_NE(r.diags()[0].message.find("machine code for sm_90"), std::string::npos);
}

struct Wrapper {
  u32 magic, version;
  const void *fatbin, *list;
};

TEST(Fatbin, Wrappers) {
  const auto one = make({{1, 90, module_text("sm_90", "first")}}),
             two = make({{1, 90, module_text("sm_90", "second"), Pack::Zstd}});
  const auto sass = make({{2, 90, "elf"}}), empty = make({});
  const Wrapper v1{0x466243b1, 1, one.data(), nullptr};
  const auto m1 = load(&v1, {}, "m");
  ASSERT_TRUE(m1);
  EXPECT_NE((*m1)->find("first"), nullptr);
  const void* list[] = {one.data(), sass.data(), two.data(), nullptr};
  const Wrapper v2{0x466243b1, 2, empty.data(), list};
  u32 skipped = 0;
  const auto all = find_all_ptx(&v2, {}, &skipped);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2u);
  EXPECT_EQ(skipped, 1u);
  const auto m2 = load(&v2, {}, "m");
  ASSERT_TRUE(m2);
  EXPECT_NE((*m2)->find("first"), nullptr);
  EXPECT_NE((*m2)->find("second"), nullptr);
  const void* none[] = {sass.data(), nullptr};
  const Wrapper v3{0x466243b1, 2, empty.data(), none};
  const auto r = load(&v3, {}, "m");
  ASSERT_FALSE(r);
  EXPECT_TRUE(is_no_ptx(r.diags()));
  EXPECT_EQ(container_of("\177ELF"), Container::Elf);
}

TEST(Fatbin, DamagedBytes) {
  const auto good =
      make({{1, 80, module_text("sm_80", "k"), Pack::Lz4}, {1, 90, module_text("sm_90", "k"), Pack::Zstd}});
  u64 seed = 99;
  const auto random = [&](u64 n) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % n;
  };
  for (int round = 0; round < 5000; ++round) {
    auto bytes = good;
    for (u64 edits = 1 + random(3); edits > 0; --edits) bytes[random(bytes.size())] = static_cast<u8>(random(256));
    if (random(3) == 0) bytes.resize(random(bytes.size()));
    if (const auto r = find_ptx(std::span<const u8>(bytes), {})) parse(r->ptx, "m");
  }
}

}  // namespace
}  // namespace us::ptx
