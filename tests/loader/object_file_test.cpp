// SPDX-License-Identifier: Apache-2.0
#include "loader/object_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

extern "C" __attribute__((used, noinline)) int us_test_marker() { return 42; }

namespace us::loader {
namespace {

std::string own_bytes() {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(ObjectFile, KnowsItsFunctionsAndTheirCode) {
  const ObjectFile file("/proc/self/exe");
  ASSERT_TRUE(file.has_symbols());
  EXPECT_TRUE(file.names("us_test_marker"));
  EXPECT_TRUE(file.matches(*_r_debug.r_map));
  int found = 0;
  file.each_function([&](const char* name, const Elf64_Sym& s) {
    if (std::strcmp(name, "us_test_marker") != 0) return;
    ++found;
    int protection = 0;
    const unsigned char* code = file.code(s.st_value, s.st_size, protection);
    ASSERT_NE(code, nullptr);
    EXPECT_EQ(protection, PROT_READ | PROT_EXEC);
    const auto* loaded = reinterpret_cast<const unsigned char*>(_r_debug.r_map->l_addr + s.st_value);
    EXPECT_EQ(loaded, reinterpret_cast<const unsigned char*>(&us_test_marker));
    EXPECT_EQ(std::memcmp(code, loaded, s.st_size), 0);
    EXPECT_TRUE(file.alone(s, s.st_size));
    EXPECT_FALSE(file.alone(s, 1 << 20));
    EXPECT_EQ(file.code(s.st_value, ~size_t{0}, protection), nullptr);
  });
  EXPECT_EQ(found, 1);
}

TEST(ObjectFile, OtherFilesHaveNothing) {
  for (const char* path : {"/none", "/dev/null", "/etc/passwd", "/"}) {
    const ObjectFile file(path);
    EXPECT_FALSE(file.has_symbols()) << path;
    EXPECT_FALSE(file.names("a")) << path;
    EXPECT_FALSE(file.matches(*_r_debug.r_map)) << path;
  }
}

// Cut short anywhere, with any byte of the header changed: nothing outside the file is read.
TEST(ObjectFile, DamagedFilesAreSurvived) {
  const std::string whole = own_bytes(), path = testing::TempDir() + "/damaged_object";
  const auto look = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    const ObjectFile file(path.c_str());
    size_t n = 0;
    file.each_function([&](const char* name, const Elf64_Sym& s) {
      int protection = 0;
      n += std::strlen(name) + (file.code(s.st_value, 14, protection) != nullptr);
    });
    (void)file.names("nothing");
    (void)file.matches(*_r_debug.r_map);
    return n;
  };
  EXPECT_GT(look(whole), 0u);
  for (size_t cut = 0; cut < whole.size(); cut += whole.size() / 23 + 1) look(whole.substr(0, cut));
  for (size_t i = 0; i < sizeof(Elf64_Ehdr); ++i) {
    std::string bad = whole;
    bad[i] = static_cast<char>(0xff);
    look(bad);
  }
}

}  // namespace
}  // namespace us::loader
