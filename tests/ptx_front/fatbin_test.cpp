// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <lz4.h>
#include <sys/mman.h>
#include <zstd.h>

#include <cstring>

#include "ptx/entries.h"
#include "ptx/fatbin.h"
#include "ptx/mapped.h"
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

TEST(Fatbin, NewerPtxWhereTheTargetHasMachineCode) {
  const Part elf{2, 90, "elf"}, old_elf{2, 80, "elf"}, newer{1, 120, "120"};
  const Part family{1, 100, "100f", Pack::None, 0x200000};
  const auto pick = [](const std::vector<Part>& parts) {
    const auto bytes = make(parts);
    const auto r = find_newer_ptx(bytes.data(), {});
    return r ? std::string(r->front().ptx.c_str()) : std::string("none");
  };
  EXPECT_EQ(pick({elf, newer}), "120");
  EXPECT_EQ(pick({old_elf, newer}), "none");  // no device of this architecture would run it
  EXPECT_EQ(pick({elf, family}), "none");
  EXPECT_EQ(pick({elf, newer, {1, 100, "100"}}), "100");
  EXPECT_EQ(pick({elf}), "none");
}

TEST(Fatbin, ListsItsEntries) {
  const auto bytes = make({{1, 90, "p", Pack::None, 0x100000}, {2, 90, "elf"}, {2, 100, "elf", Pack::None, 0x200000}});
  const auto r = list_entries(std::span<const u8>(bytes));
  ASSERT_TRUE(r);
  EXPECT_EQ(*r,
            (std::vector<std::string>{"PTX for compute_90a", "machine code for sm_90", "machine code for sm_100f"}));
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

// Bytes that end where nothing can be read.
class AtTheEnd {
 public:
  AtTheEnd() {
    void* const p = mmap(nullptr, 2 * kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    base_ = static_cast<u8*>(p);
    mprotect(base_ + kRoom, kRoom, PROT_NONE);
  }
  ~AtTheEnd() { munmap(base_, 2 * kRoom); }
  const void* put(std::span<const u8> bytes) {
    u8* const at = base_ + kRoom - bytes.size();
    std::memcpy(at, bytes.data(), bytes.size());
    return at;
  }

 private:
  static constexpr std::size_t kRoom = 64 << 10;
  u8* base_;
};

class Damage {
 public:
  explicit Damage(u64 seed) : seed_(seed) {}
  u64 random(u64 n) {
    seed_ = seed_ * 6364136223846793005ull + 1442695040888963407ull;
    return (seed_ >> 33) % n;
  }
  u64 absurd() {
    constexpr u64 values[] = {0,          1,          15,         0xffff,     0x7fffffff, 0x80000000,
                              0xfffffff0, 1ull << 40, 1ull << 63, ~0ull - 15, ~0ull};
    return values[random(std::size(values))] + random(3) - 1;
  }
  // Fields of 2 to 8 bytes get sizes that cannot be, most of them in the first headers.
  void fields(std::vector<u8>& bytes) {
    for (u64 edits = 1 + random(4); edits > 0 && bytes.size() > 8; --edits) {
      const u64 end = random(4) ? std::min<u64>(bytes.size(), 104) : bytes.size();
      const u64 at = random(end - 8) & ~u64{random(2)};
      const u64 v = absurd();
      std::memcpy(bytes.data() + at, &v, u64{2} << random(3));
    }
    if (random(8) == 0) bytes.resize(random(bytes.size()));
  }

 private:
  u64 seed_;
};

TEST(Fatbin, AbsurdSizesAtAPointer) {
  const auto good = make({{1, 80, module_text("sm_80", "k"), Pack::Lz4}, {1, 90, module_text("sm_90", "k")}});
  AtTheEnd end;
  Damage damage(1);
  for (int round = 0; round < 5000; ++round) {
    auto bytes = good;
    damage.fields(bytes);
    if (bytes.empty()) continue;
    const void* const at = end.put(bytes);
    if (container_of(at) != Container::Text) load(at, {}, "m");
    find_ptx(at, {});
  }
  const auto r = load(end.put(good), {}, "m");
  EXPECT_TRUE(r);
}

TEST(Fatbin, WrappersThatPointNowhere) {
  const auto good = make({{1, 90, module_text("sm_90", "k")}});
  AtTheEnd end, list_end;
  Damage damage(2);
  const u64 fatbin = reinterpret_cast<u64>(end.put(good));
  for (int round = 0; round < 2000; ++round) {
    const u64 entries[] = {fatbin, damage.random(2) ? damage.absurd() : fatbin, fatbin};  // no 0 at the end
    const u64 list = reinterpret_cast<u64>(list_end.put({reinterpret_cast<const u8*>(entries), sizeof entries}));
    const u64 words[] = {u64{0x466243b1} | (1 + damage.random(2)) << 32,
                         damage.random(2) ? damage.absurd() : fatbin + damage.random(good.size()),
                         damage.random(2) ? damage.absurd() : list};
    load(words, {}, "m");
  }
}

TEST(Fatbin, LinkedCodeThatClaimsTooMuch) {
  const std::string texts[] = {module_text("sm_90", "first"), module_text("sm_90", "second")};
  const std::string bundle = make_bundle(texts);
  AtTheEnd end;
  Damage damage(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<u8> bytes(bundle.begin(), bundle.end());
    damage.fields(bytes);
    const u32 magic = 0xB5585450;
    if (bytes.size() >= sizeof magic) std::memcpy(bytes.data(), &magic, sizeof magic);
    if (!bytes.empty() && container_of(end.put(bytes)) == Container::Bundle) load(end.put(bytes), {}, "m");
  }
  const std::vector<u8> whole(bundle.begin(), bundle.end());
  EXPECT_TRUE(load(end.put(whole), {}, "m"));
}

TEST(Fatbin, ReadableMemoryEndsWhereItIsProtected) {
  AtTheEnd end;
  const u8 bytes[] = {1, 2, 3};
  EXPECT_EQ(mapped_from(end.put(bytes)).size(), 3u);
  EXPECT_EQ(mapped_from(nullptr).size(), 0u);
  EXPECT_EQ(container_of(end.put(bytes)), Container::Text);
}

}  // namespace
}  // namespace us::ptx
