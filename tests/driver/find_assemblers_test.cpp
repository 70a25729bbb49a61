// SPDX-License-Identifier: Apache-2.0
#include "driver/code/find_assemblers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "driver/code/assembler.h"

namespace us::driver {
namespace {

namespace fs = std::filesystem;

class FindAssemblers : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::temp_directory_path() / "assemblers-XXXXXX";
    ASSERT_TRUE(mkdtemp(path_.data()));
    for (const char* name : {"CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "TRITON_PTXAS_PATH"}) unsetenv(name);
  }
  void TearDown() override {
    for (const char* name : {"CUDA_HOME", "VIRTUAL_ENV", "TRITON_PTXAS_PATH"}) unsetenv(name);
    fs::remove_all(path_);
  }
  std::string program(const std::string& name, const std::string& text = "exit 1") const {
    const std::string file = path_ + "/" + name;
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  static std::ptrdiff_t place(const std::vector<std::string>& in, const std::string& of) {
    const auto at = std::ranges::find(in, of);
    return at == in.end() ? -1 : at - in.begin();
  }
  std::string path_;
};

TEST_F(FindAssemblers, OfToolkitsVariablesAndPackages) {
  const std::string toolkit = program("toolkit/bin/ptxas"), named = program("named");
  const std::string second = program("a/site-packages/triton/backends/nvidia/bin/ptxas-blackwell");
  const std::string first = program("a/site-packages/triton/backends/nvidia/bin/ptxas");
  const std::string wheel = program("b/lib/python3.11/site-packages/nvidia/cu13/bin/ptxas");
  const std::string maps = path_ + "/maps";
  std::ofstream(maps) << "7f0000000000-7f0000001000 r-xp 00000000 08:01 17      /usr/lib/libc.so.6\n"
                      << "7f0000002000-7f0000003000 r-xp 00000000 08:01 18      " << path_
                      << "/a/site-packages/triton/_C/libtriton.so\n"
                      << "7f0000004000-7f0000005000 rw-p 00000000 00:00 0 \n";
  const auto none = find_assemblers("/dev/null");
  for (const std::string& p : {toolkit, named, first, second, wheel}) EXPECT_EQ(place(none, p), -1) << p;
  setenv("CUDA_HOME", (path_ + "/toolkit").c_str(), 1);
  setenv("TRITON_PTXAS_PATH", named.c_str(), 1);
  setenv("VIRTUAL_ENV", (path_ + "/b").c_str(), 1);
  const auto all = find_assemblers(maps);
  EXPECT_EQ(place(all, toolkit), 0);
  EXPECT_GT(place(all, named), 0);
  EXPECT_EQ(place(all, second), place(all, named) + 1);
  EXPECT_EQ(place(all, first), place(all, named) + 2);
  EXPECT_EQ(place(all, wheel), place(all, named) + 3);
}

TEST_F(FindAssemblers, TheNextKnowsTheVersion) {
  const std::string real = Assembler::find();
  if (real.empty()) GTEST_SKIP() << "no ptxas";
  const ptx::Image text{.ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n",
                        .options = {}};
  setenv("CUDA_HOME", (path_ + "/toolkit").c_str(), 1);
  const auto origin = [&](const std::string& says) {
    program("toolkit/bin/ptxas", "echo \"" + says + "\"; exit 255");
    const auto image = Assembler("", "").image(text, 90);
    return image ? image->origin : image.diags().at(0).message;
  };
  EXPECT_EQ(origin("ptxas /tmp/code.ptx, line 1; fatal   : Unsupported .version 8.0; current version is '7.8'\n"
                   "ptxas fatal   : Ptx assembly aborted due to errors"),
            real);
  EXPECT_NE(origin("ptxas /tmp/code.ptx, line 7; error   : Parsing error near 'x'").find("line 7: Parsing error"),
            std::string::npos)
      << "what is wrong in the text is told, not tried elsewhere";
  const auto registers = Assembler("", "").ask({.ptx = {text}, .objects = {}}, 90);
  ASSERT_TRUE(registers);
  EXPECT_EQ(registers->kernels.at(0).name, "k");
}

}  // namespace
}  // namespace us::driver
