// SPDX-License-Identifier: Apache-2.0
#include "tools/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace us::tools {
namespace {

TEST(Program, IsFoundOnThePath) {
  EXPECT_TRUE(find_program("sh").ends_with("/sh"));
  EXPECT_EQ(find_program("no-such-program"), "");
  EXPECT_EQ(find_program("./anything"), "./anything");
  EXPECT_TRUE(examine_program("sh").executable);
}

TEST(Program, FilesAndDirectoriesAreNotExecutable) {
  const std::string file = testing::TempDir() + "/plain";
  std::ofstream(file) << "text";
  EXPECT_FALSE(examine_program(file).executable);
  EXPECT_EQ(examine_program(file).path, file);
  EXPECT_FALSE(examine_program(testing::TempDir()).executable);
  EXPECT_EQ(examine_program(file + "-missing").path, "");
}

TEST(Program, PrependKeepsWhatWasThere) {
  EXPECT_EQ(prepend("/a", nullptr, ':'), "/a");
  EXPECT_EQ(prepend("/a", "", ':'), "/a");
  EXPECT_EQ(prepend("/a", "/b:/c", ':'), "/a:/b:/c");
}

}  // namespace
}  // namespace us::tools
