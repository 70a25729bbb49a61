// SPDX-License-Identifier: Apache-2.0
#include "tools/elf_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace us::tools {
namespace {

std::string self() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

TEST(ElfFile, ReadsThisProgram) {
  const auto elf = ElfFile::open(self());
  ASSERT_TRUE(elf);
  EXPECT_TRUE(elf->executable_or_library);
  EXPECT_NE(std::find(elf->needed.begin(), elf->needed.end(), "libc.so.6"), elf->needed.end());
  ASSERT_NE(elf->section(".text"), nullptr);
  EXPECT_FALSE(elf->section(".text")->bytes.empty());
  const auto main =
      std::find_if(elf->symbols.begin(), elf->symbols.end(), [](const auto& s) { return s.name == "main"; });
  ASSERT_NE(main, elf->symbols.end());
  EXPECT_TRUE(main->defined && main->function);
}

TEST(ElfFile, NeededSymbolsCarryTheirVersion) {
  const auto elf = ElfFile::open(self());
  ASSERT_TRUE(elf);
  const auto& symbols = elf->dynamic_symbols;
  const auto libc =
      std::find_if(symbols.begin(), symbols.end(), [](const auto& s) { return s.name == "__libc_start_main"; });
  ASSERT_NE(libc, symbols.end());
  EXPECT_FALSE(libc->defined);
  EXPECT_TRUE(libc->version.starts_with("GLIBC_")) << libc->version;
}

TEST(ElfFile, SaysWhyAFileIsNone) {
  EXPECT_EQ(ElfFile::open("/nosuch").diags()[0].message, "/nosuch: No such file or directory");
  const std::string text = testing::TempDir() + "/text";
  std::ofstream(text) << "#!/bin/sh\n";
  EXPECT_EQ(ElfFile::open(text).diags()[0].message, text + ": no 64-bit x86 ELF file");
}

// Cut anywhere, a file may lose parts but must not be read beyond its end.
TEST(ElfFile, SurvivesTruncation) {
  const auto whole = read_file(self());
  ASSERT_TRUE(whole);
  const std::string cut = testing::TempDir() + "/cut";
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{10}, std::size_t{64}, whole->size() / 2, whole->size() - 100}) {
    std::ofstream(cut, std::ios::binary)
        .write(reinterpret_cast<const char*>(whole->data()), static_cast<std::streamsize>(size));
    const auto elf = ElfFile::open(cut);
    EXPECT_EQ(static_cast<bool>(elf), size >= 64) << size;
  }
}

}  // namespace
}  // namespace us::tools
