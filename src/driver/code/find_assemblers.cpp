// SPDX-License-Identifier: Apache-2.0
#include "driver/code/find_assemblers.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace us::driver {
namespace {

namespace fs = std::filesystem;

// The newest PTX is known to the packages that are younger, so Triton's second assembler comes before its first.
constexpr const char* kInPackages[] = {"nvidia/cu13/bin/ptxas", "nvidia/cuda_nvcc/bin/ptxas",
                                       "triton/backends/nvidia/bin/ptxas-blackwell",
                                       "triton/backends/nvidia/bin/ptxas"};
constexpr std::string_view kPackages[] = {"/site-packages/", "/dist-packages/"};

bool is_program(const std::string& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec) && access(path.c_str(), X_OK) == 0;
}

struct Found {
  std::vector<std::string> all;
  void look(const std::string& path) {
    if (is_program(path) && std::ranges::count(all, path) == 0) all.push_back(path);
  }
};

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

std::vector<std::string> directories_of_toolkits() {
  std::vector<std::string> out;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string home = value_of(variable); !home.empty()) out.push_back(home + "/bin");
  std::istringstream words(value_of("PATH"));
  for (std::string directory; std::getline(words, directory, ':');)
    if (directory.starts_with('/')) out.push_back(directory);
  for (const char* home : {"/usr/local/cuda", "/usr/local/cuda-13", "/opt/cuda"})
    out.push_back(std::string(home) + "/bin");
  return out;
}

std::vector<std::string> directories_of_packages(const std::string& maps) {
  std::vector<std::string> out;
  const auto add = [&](std::string directory) {
    if (std::ranges::count(out, directory) == 0) out.push_back(std::move(directory));
  };
  std::ifstream in(maps);
  for (std::string line; std::getline(in, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    for (const std::string_view name : kPackages)
      if (const std::size_t at = line.find(name, path); at != std::string::npos)
        add(line.substr(path, at + name.size() - path));
  }
  std::error_code ec;
  if (const std::string home = value_of("VIRTUAL_ENV"); !home.empty())
    for (const fs::directory_entry& e : fs::directory_iterator(home + "/lib", ec))
      add(e.path().string() + "/site-packages/");
  return out;
}

}  // namespace

std::vector<std::string> find_assemblers(const std::string& maps) {
  Found found;
  for (const std::string& directory : directories_of_toolkits()) {
    found.look(directory + "/ptxas");
    std::error_code ec;
    const fs::path nvcc = fs::canonical(directory + "/nvcc", ec);
    if (!ec) found.look(nvcc.parent_path() / "ptxas");
  }
  for (const char* variable : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"}) found.look(value_of(variable));
  for (const std::string& directory : directories_of_packages(maps))
    for (const char* name : kInPackages) found.look(directory + name);
  return found.all;
}

}  // namespace us::driver
