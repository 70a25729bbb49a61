// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/version.h"
#include "ptx/fatbin.h"
#include "ptx/ptx.h"
#include "tools/standins/standins.h"

namespace us::tools {

// What it starts stays the toolkit's, too.
int StockTool::start(const Arguments& arguments, bool silent) const {
  if (path_.empty()) {
    if (!silent)
      std::fputs("understudy: this needs the CUDA toolkit's own program, which `understudy run` names, and none was\n",
                 stderr);
    return 127;
  }
  std::vector<char*> argv = {const_cast<char*>(path_.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  ::setenv("UNDERSTUDY_STOCK_TOOLS", "1", 1);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (silent)
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
  std::fflush(nullptr);
  pid_t child = 0;
  int status = 0;
  const int error = posix_spawn(&child, path_.c_str(), &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error && !silent) std::fprintf(stderr, "understudy: %s: %s\n", path_.c_str(), std::strerror(error));
  if (error || waitpid(child, &status, 0) < 0) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int StockTool::run(const Arguments& a) const { return start(a, false); }
int StockTool::run_silent(const Arguments& a) const { return start(a, true); }

int print_version(const StockTool& stock, const char* name) {
  if (!stock || stock.run({"--version"}) != 0)
    std::printf("%s of no toolkit\nCuda compilation tools, release 13.0, V13.0.88\n", name);
  std::printf("Understudy %s hands on PTX in the place of machine code\n", kVersionText);
  return 0;
}

bool value_of(const Arguments& all, std::size_t& i, std::initializer_list<const char*> names, std::string& value) {
  for (const char* name : names) {
    const std::size_t n = std::strlen(name);
    if (all[i].compare(0, n, name) != 0) continue;
    if (all[i].size() > n && all[i][n] == '=') return value = all[i].substr(n + 1), true;
    if (all[i].size() == n && i + 1 < all.size()) return value = all[++i], true;
  }
  return false;
}

bool read_whole(const std::string& path, std::string& out) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, error)) return false;
  out.assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

bool write_whole(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file.good();
}

bool is_handed_on(const std::string& text) {
  const auto kind = ptx::container_of(text.c_str());
  return kind == ptx::Container::Bundle || kind == ptx::Container::FatBinary ||
         (kind == ptx::Container::Text && ptx::is_ptx(text));
}

}  // namespace us::tools

int main(int count, char** given) {
  using namespace us::tools;
  const char* meant = std::getenv(kStockTool);
  const std::string stock = meant ? meant : "";
  ::unsetenv(kStockTool);
  const std::string name = std::filesystem::path(stock.empty() ? given[0] : stock).filename();
  const StockTool tool(stock);
  const Arguments arguments(given + 1, given + count);
  for (const std::string& a : arguments)
    if (a == "--version" || a == "-V") return print_version(tool, name.c_str());
  if (name == "ptxas" || name == "ptxas-blackwell") return ptxas(tool, arguments);
  if (name == "nvlink") return nvlink(tool, arguments);
  if (name == "fatbinary") return fatbinary(tool, arguments);
  if (name == "nvcc") return nvcc(tool, arguments);
  std::fprintf(stderr,
               "understudy: %s is none of the programs that this one stands in for: ptxas nvlink fatbinary nvcc\n",
               name.c_str());
  return 2;
}
