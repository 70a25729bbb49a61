// SPDX-License-Identifier: Apache-2.0
// What first launches take of the host, against an H200 (oracle/timing/public/first.tsv).
#include "timing/code_load.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace us::timing {
namespace {

constexpr double kLaunch = 5000;  // ns of a launch on that machine, when the code is there (first.txt)

TEST(CodeLoad, FirstLaunchesOfPublicPrograms) {
  std::ifstream in(US_SOURCE_DIR "/oracle/timing/public/first.tsv");
  double off = 0;
  int programs = 0;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("hec_")) continue;
    std::istringstream words(line);
    std::string name;
    CodeSizes of;
    double first = 0;
    words >> name >> of.kernels >> of.bytes >> of.variables >> first;
    ASSERT_TRUE(words) << line;
    of.kernel_bytes = of.bytes / of.kernels;
    const Parameters p;
    const double ours = kLaunch + module_load(p, of) + kernel_load(p, of);
    EXPECT_LT(std::abs(ours / first - 1), 0.35) << name << ": " << ours << " instead of " << first;
    off += std::abs(ours / first - 1);
    ++programs;
  }
  ASSERT_EQ(programs, 19);
  EXPECT_LT(off / programs, 0.12);
}

TEST(CodeLoad, OnceForAModuleAndForAKernel) {
  const Parameters p;
  probe::LaunchInfo one, two, elsewhere;
  one.kernel = "one", two.kernel = "two", elsewhere.kernel = "elsewhere";
  one.sites = two.sites = 100, elsewhere.sites = 200;
  LoadedCode code;
  const double both = code.load(p, one, nullptr);
  EXPECT_GT(both, p.host_module + p.host_load);
  EXPECT_EQ(code.load(p, one, nullptr), 0);
  const double second = code.load(p, two, nullptr);
  EXPECT_GT(second, 0);
  EXPECT_LT(second, both - p.host_module);
  EXPECT_GT(code.load(p, elsewhere, nullptr), both);
}

TEST(CodeLoad, VariablesOfTheModuleCount) {
  const Parameters p;
  probe::LaunchInfo with;
  for (const probe::Space s : {probe::Space::Global, probe::Space::Const, probe::Space::Shared})
    with.symbols.push_back({"v", s, 0, 4});
  EXPECT_EQ(code_sizes(with, nullptr).variables, 2u);
  EXPECT_EQ(module_load(p, {.variables = 2}) - module_load(p, {}), p.host_variables + 2 * p.host_variable);
}

}  // namespace
}  // namespace us::timing
