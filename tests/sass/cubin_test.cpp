// SPDX-License-Identifier: Apache-2.0
// Cubins made here byte by byte, whole and damaged.
#include "sass/cubin.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace us::sass {
namespace {

using Bytes = std::vector<u8>;

template <class T>
void put(Bytes& b, const T& v) {
  const auto* p = reinterpret_cast<const u8*>(&v);
  b.insert(b.end(), p, p + sizeof v);
}
Bytes words(std::initializer_list<u32> list) {
  Bytes b;
  for (const u32 w : list) put(b, w);
  return b;
}
Bytes attribute(u8 code, std::initializer_list<u32> values) {
  Bytes b = {4, code, static_cast<u8>(values.size() * 4), 0};
  for (const u32 v : values) put(b, v);
  return b;
}
void operator+=(Bytes& a, const Bytes& b) { a.insert(a.end(), b.begin(), b.end()); }

struct Writer {
  struct Row {
    std::string name;
    Bytes bytes;
    Elf64_Shdr header;
  };
  std::vector<Row> rows{{"", {}, {}}};
  void add(std::string name, u32 type, Bytes bytes, u64 size = 0, u32 link = 0, u32 info = 0) {
    Elf64_Shdr h{};
    h.sh_type = type;
    h.sh_size = type == SHT_NOBITS ? size : bytes.size();
    h.sh_link = link;
    h.sh_info = info;
    rows.push_back({std::move(name), std::move(bytes), h});
  }
  Bytes file(u8 abi, u32 flags) {
    add(".shstrtab", SHT_STRTAB, {});
    Bytes& names = rows.back().bytes;
    for (Row& r : rows) {
      r.header.sh_name = static_cast<u32>(names.size());
      names.insert(names.end(), r.name.begin(), r.name.end());
      names.push_back(0);
    }
    rows.back().header.sh_size = names.size();
    Elf64_Ehdr head{};
    std::memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ident[EI_ABIVERSION] = abi;
    head.e_machine = 190;
    head.e_flags = flags;
    head.e_shentsize = sizeof(Elf64_Shdr);
    head.e_shnum = static_cast<u16>(rows.size());
    head.e_shstrndx = static_cast<u16>(rows.size() - 1);
    Bytes out(sizeof head);
    for (Row& r : rows) {
      r.header.sh_offset = out.size();
      out += r.bytes;
    }
    head.e_shoff = out.size();
    for (Row& r : rows) put(out, r.header);
    std::memcpy(out.data(), &head, sizeof head);
    return out;
  }
};

// Two kernels and a device function, as nvcc 13 lays them out (ABI 8) and as nvcc 12 does (ABI 7).
Bytes two_kernels(u8 abi) {
  Writer w;
  Bytes names = {0};
  Bytes symbols;
  put(symbols, Elf64_Sym{});
  const auto symbol = [&](const char* name, u8 other) {
    Elf64_Sym s{};
    s.st_name = static_cast<u32>(names.size());
    s.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    s.st_other = other;
    put(symbols, s);
    names.insert(names.end(), name, name + std::strlen(name) + 1);
  };
  symbol("plain", 0x10);
  symbol("helper", 0);
  symbol("large", 0x10);
  w.add(".strtab", SHT_STRTAB, names);
  w.add(".symtab", SHT_SYMTAB, symbols, 0, 1);
  Bytes info;
  for (const Bytes& a : {attribute(0x2f, {3, 124}), attribute(0x11, {3, 40}), attribute(0x2f, {1, 12}),
                         attribute(0x11, {2, 360}), attribute(0x12, {3, 400}), attribute(0x12, {1, 0})})
    info += a;
  w.add(".nv.info", 0x70000000, abi == 8 ? info : Bytes{});
  Bytes own = {3, 0x50, 0, 0, 2, 0x4c, 1, 0};  // formats without bytes behind them
  own += attribute(0x05, {256, 2, 1});
  w.add(".nv.info.large", 0x70000000, own);
  w.add(".text.plain", SHT_PROGBITS, {1, 2, 3}, 0, 0, 12u << 24 | 1);
  w.add(".text.large", SHT_PROGBITS, {1, 2, 3}, 0, 0, 124u << 24 | 3);
  w.add(".nv.shared.large", SHT_NOBITS, {}, 1024 + 1000);
  w.add(".nv.constant3", SHT_PROGBITS, Bytes(403));
  Bytes note = words({11, 8, 1000});
  for (const char c : std::string("NVIDIA Corp")) note.push_back(static_cast<u8>(c));
  note.push_back(0);
  note += words({80u << 16 | 2, 130});
  w.add(".note.nv.cuinfo", SHT_NOTE, note);
  return w.file(abi, abi == 8 ? 0x06005a04 : 0x50055a);
}

TEST(Cubin, TellsWhatItsKernelsNeed) {
  const auto c = read_cubin(two_kernels(8));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->sm, 90u);
  EXPECT_EQ(c->ptx_sm, 80u);
  EXPECT_EQ(c->constant_bytes, 403u);
  ASSERT_EQ(c->kernels.size(), 2u);
  EXPECT_EQ(*c->find("plain"), (KernelFacts{.name = "plain", .registers = 12}));
  EXPECT_EQ(*c->find("large"), (KernelFacts{.name = "large",
                                            .registers = 124,
                                            .frame_bytes = 40,
                                            .stack_bytes = 400,
                                            .shared_bytes = 1000,
                                            .max_threads = 512}));
  EXPECT_EQ(c->find("helper"), nullptr);
}

TEST(Cubin, OfTheOlderAbi) {
  const auto c = read_cubin(two_kernels(7));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->sm, 90u);
  EXPECT_EQ(c->ptx_sm, 80u);
  EXPECT_EQ(c->find("plain")->registers, 12u);
  EXPECT_EQ(c->find("large")->registers, 124u);
}

TEST(Cubin, RefusesWhatIsNone) {
  EXPECT_FALSE(read_cubin({}));
  EXPECT_FALSE(read_cubin(Bytes(10, 0x7f)));
  Bytes other = two_kernels(8);
  other[EI_NIDENT + 2] = 62;  // x86-64
  EXPECT_FALSE(read_cubin(other));
  for (std::size_t n = 0; n + 1 < two_kernels(8).size(); n += 7) {
    Bytes cut = two_kernels(8);
    cut.resize(n);
    read_cubin(cut);
  }
}

// Every field that leads somewhere gets every kind of number; the bytes lie in a block of their own, so that a
// sanitizer hears of a read outside.
TEST(Cubin, SurvivesDamage) {
  std::mt19937_64 random(1);
  const Bytes whole = two_kernels(8), old = two_kernels(7);
  for (int round = 0; round < 60000; ++round) {
    Bytes b = round % 2 ? whole : old;
    for (u64 hits = random() % 4 + 1; hits; --hits) {
      const u64 at = random() % b.size();
      const u64 kind = random() % 4, v = kind == 0   ? random()
                                         : kind == 1 ? ~u64{0}
                                         : kind == 2 ? b.size() - 1
                                                     : random() % 64;
      std::memcpy(&b[at], &v, std::min<u64>(random() % 8 + 1, b.size() - at));
    }
    if (random() % 8 == 0) b.resize(random() % b.size());
    if (const auto c = read_cubin(Bytes(b))) {
      for (const KernelFacts& k : c->kernels) EXPECT_FALSE(k.name.empty());
    }
  }
}

}  // namespace
}  // namespace us::sass
