// SPDX-License-Identifier: Apache-2.0
// What libcudart and libcuda export: the rows of their tables with the stock version node, and nothing else. Where the
// stock libraries are installed, the tables must also equal theirs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tools/elf_file.h"

namespace us::tools {
namespace {

using Names = std::set<std::string>;

const std::vector<std::string> runtime_rows = {
#define US_ENTRY(name, level, note) #name,
#include "cuda/libcudart/entry_points.inc"
#undef US_ENTRY
};
const std::vector<std::string> driver_rows = {
#define US_ENTRY(name, level, note) #name,
#include "cuda/libcuda/entry_points.inc"
#undef US_ENTRY
};

const std::vector<std::string> runtime12_rows = {
#define US_SAME(name) #name,
#define US_AS(name, other) #name,
#define US_OWN(name) #name,
#include "cuda/libcudart12/entry_points.inc"
#undef US_SAME
#undef US_AS
#undef US_OWN
};

Names as_set(const std::vector<std::string>& rows) { return {rows.begin(), rows.end()}; }

ElfFile library(const std::string& path) {
  auto elf = ElfFile::open(path);
  EXPECT_TRUE(elf) << (elf ? "" : elf.diags()[0].message);
  return elf ? std::move(*elf) : ElfFile();
}
ElfFile ours(const std::string& name) { return library(US_BINARY_DIR "/lib/" + name); }

Names exported(const ElfFile& elf, const std::string& version) {
  Names names;
  for (const ElfFile::Symbol& s : elf.dynamic_symbols) {
    if (!s.defined) continue;
    EXPECT_EQ(s.version, version) << s.name;
    EXPECT_TRUE(s.function) << s.name;
    EXPECT_FALSE(s.hidden_version) << s.name << " is not the default version";
    names.insert(s.name);
  }
  return names;
}

TEST(Symbols, TablesAreSortedAndWithoutDoubles) {
  for (const auto* rows : {&runtime_rows, &runtime12_rows, &driver_rows})
    EXPECT_TRUE(std::adjacent_find(rows->begin(), rows->end(), std::greater_equal<>()) == rows->end());
}

TEST(Symbols, RuntimeLibraryExportsItsTable) {
  const ElfFile elf = ours("libcudart.so.13");
  EXPECT_EQ(elf.soname, "libcudart.so.13");
  EXPECT_EQ(exported(elf, "libcudart.so.13"), as_set(runtime_rows));
}

TEST(Symbols, RuntimeLibraryOfCuda12ExportsItsTable) {
  const ElfFile elf = ours("libcudart.so.12");
  EXPECT_EQ(elf.soname, "libcudart.so.12");
  EXPECT_EQ(exported(elf, "libcudart.so.12"), as_set(runtime12_rows));
}

TEST(Symbols, OlderLibrariesAreOfTheirVersion) {
  for (const std::string name : {"libnvrtc.so.12", "libcufft.so.11"}) {
    if (!std::filesystem::exists(US_BINARY_DIR "/lib/" + name)) continue;
    const ElfFile elf = ours(name);
    EXPECT_EQ(elf.soname, name);
    EXPECT_FALSE(exported(elf, name).empty());
  }
}

TEST(Symbols, DriverLibraryExportsItsTable) {
  const ElfFile elf = ours("libcuda.so.1");
  EXPECT_EQ(elf.soname, "libcuda.so.1");
  EXPECT_EQ(exported(elf, ""), as_set(driver_rows));
}

void compare_with_stock(const std::string& path, const std::string& version, const std::vector<std::string>& rows) {
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not installed";
  EXPECT_EQ(exported(library(path), version), as_set(rows));
}

TEST(Symbols, RuntimeTableIsTheStockOne) {
  compare_with_stock(US_STOCK_HEADERS "/../lib64/libcudart.so.13", "libcudart.so.13", runtime_rows);
}
TEST(Symbols, DriverTableIsTheStockOne) {
  compare_with_stock(US_STOCK_HEADERS "/../lib64/stubs/libcuda.so", "", driver_rows);
}

}  // namespace
}  // namespace us::tools
