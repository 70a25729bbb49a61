// SPDX-License-Identifier: Apache-2.0
#include "tools/files.h"

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "tools/terminal.h"

namespace us::tools {

namespace fs = std::filesystem;

TemporaryDirectory::TemporaryDirectory() {
  std::error_code error;
  path = (fs::temp_directory_path(error) / "understudy.XXXXXX").string();
  if (!error && ::mkdtemp(path.data())) return;
  complain(fmt::format("{}: {}", path, std::strerror(errno)));
  path.clear();
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path.empty()) fs::remove_all(path, ignored);
}

bool read_file(const std::string& path, std::string& bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  bytes.assign(std::istreambuf_iterator<char>(in), {});
  return true;
}

std::vector<std::string> read_files(const std::string& directory, std::string_view extension) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> all;
  for (const fs::path& file : files) read_file(file.string(), all.emplace_back());
  return all;
}

void write_file(const std::string& path, std::string_view text, std::string_view first) {
  if (path.empty()) return;
  std::ofstream out(path, std::ios::binary);
  if (!(out << first << text) || !out.flush()) complain(fmt::format("{}: {}", path, std::strerror(errno)));
}

}  // namespace us::tools
