// SPDX-License-Identifier: Apache-2.0
// good/*.ptx parse, and the text behind each '//=' stands in the printed module, in the order of the lines.
// bad/*.ptx: each line with '//!' gets exactly one diagnostic, which contains the text; no other line gets any.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "ptx/ptx.h"

namespace us::ptx {
namespace {

std::string read(const std::filesystem::path& p) {
  std::ifstream in(p, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

std::vector<std::filesystem::path> files(const char* dir) {
  std::vector<std::filesystem::path> v;
  for (const auto& f : std::filesystem::directory_iterator(std::string(US_SOURCE_DIR) + "/tests/ptx_front/" + dir))
    if (f.path().extension() == ".ptx") v.push_back(f.path());
  std::sort(v.begin(), v.end());
  return v;
}

// Line number to what stands behind the marker.
std::map<u32, std::string> expectations(const std::string& text, std::string_view marker) {
  std::map<u32, std::string> m;
  std::istringstream in(text);
  std::string line;
  for (u32 n = 1; std::getline(in, line); ++n) {
    if (line.starts_with("//")) continue;
    if (const auto p = line.find(marker); p != std::string::npos)
      m[n] = line.substr(line.find_first_not_of(' ', p + marker.size()));
  }
  return m;
}

TEST(Files, Good) {
  for (const auto& f : files("good")) {
    SCOPED_TRACE(f.filename().string());
    const std::string text = read(f);
    const auto r = parse(text, "m");
    for (const Diag& d : r.diags()) ADD_FAILURE() << d.loc.line << ":" << d.loc.col << ": " << d.message;
    if (!r) continue;
    const std::string dump = ir::to_text(**r);
    std::size_t at = 0;
    for (const auto& [line, want] : expectations(text, "//=")) {
      const std::size_t p = dump.find(want, at);
      EXPECT_NE(p, std::string::npos) << "line " << line << ": " << want;
      if (p != std::string::npos) at = p + want.size();
    }
    if (testing::Test::HasFailure()) std::fputs(dump.c_str(), stderr);
  }
}

TEST(Files, Bad) {
  for (const auto& f : files("bad")) {
    SCOPED_TRACE(f.filename().string());
    const std::string text = read(f);
    const auto r = parse(text, "m");
    EXPECT_FALSE(static_cast<bool>(r));
    auto want = expectations(text, "//!");
    for (const Diag& d : r.diags()) {
      const auto it = want.find(d.loc.line);
      if (it == want.end()) {
        ADD_FAILURE() << "unexpected: " << d.loc.line << ":" << d.loc.col << ": " << d.message;
        continue;
      }
      EXPECT_NE(d.message.find(it->second), std::string::npos)
          << d.loc.line << ": " << d.message << "\n  expected: " << it->second;
      want.erase(it);
    }
    for (const auto& [line, text] : want) ADD_FAILURE() << "no diagnostic in line " << line << ": " << text;
  }
}

// Damaged text: anything but a crash or a hang.
TEST(Files, Damaged) {
  u64 seed = 12345;
  const auto random = [&](u64 n) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % n;
  };
  for (const char* dir : {"good", "bad"})
    for (const auto& f : files(dir)) {
      const std::string text = read(f);
      for (int round = 0; round < 300; ++round) {
        std::string t = text;
        for (u64 edits = 1 + random(4); edits > 0 && !t.empty(); --edits) {
          const std::size_t at = random(t.size());
          switch (random(5)) {
            case 0:
              t.erase(at, 1 + random(8));
              break;
            case 1:
              t.insert(at, t.substr(random(t.size()), 1 + random(40)));
              break;
            case 2:
              t[at] = "{}[]();,.:%@!\"/<>0x"[random(20)];
              break;
            case 3:
              t.resize(at);
              break;
            default:
              t[at] = static_cast<char>(random(256));
              break;
          }
        }
        if (const auto r = parse(t, "m")) ir::to_text(**r);
      }
    }
}

TEST(Files, DeepNesting) {
  const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";
  const std::string many(100000, '(');
  EXPECT_FALSE(static_cast<bool>(parse(head + ".global .u32 x = " + many, "m")));
  EXPECT_FALSE(static_cast<bool>(parse(head + ".global .u32 x = " + std::string(100000, '-') + "1;", "m")));
  EXPECT_FALSE(static_cast<bool>(parse(head + ".func f() " + std::string(100000, '{'), "m")));
  EXPECT_FALSE(static_cast<bool>(parse(head + ".global .u32 x[2] = " + std::string(100000, '{'), "m")));
  std::string ternary = head + ".global .u32 x = 1";
  for (int k = 0; k < 50000; ++k) ternary += "?1:1";
  parse(ternary + ";", "m");
}

}  // namespace
}  // namespace us::ptx
