// SPDX-License-Identifier: Apache-2.0
// Files of the verbs that listen to a program: its processes write theirs into a directory that goes away again.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace us::tools {

class TemporaryDirectory {
 public:
  TemporaryDirectory();  // empty path: it could not be made, which has been said
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string path;
};

std::vector<std::string> read_files(const std::string& directory, std::string_view extension);  // in order of names
bool read_file(const std::string& path, std::string& bytes);
// `text`, behind `first`. Says what went wrong. An empty path: nothing.
void write_file(const std::string& path, std::string_view text, std::string_view first = {});

}  // namespace us::tools
