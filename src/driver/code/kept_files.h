// SPDX-License-Identifier: Apache-2.0
// Answers of other programs on disk: one small file each, in a directory that only the user may write to. What is
// damaged, another user's or a link is a miss, never an error.
#pragma once
#include <optional>
#include <string>

namespace us::driver {

class KeptFiles {
 public:
  // In a folder of the cache's directory; empty: there is no cache. `head` says what the files are.
  KeptFiles(std::string dir, std::string folder, std::string head)
      : dir_(std::move(dir)), folder_(std::move(folder)), head_(std::move(head)) {}
  std::optional<std::string> load(const std::string& key) const;
  void store(const std::string& key, const std::string& content) const;  // written aside, then renamed

 private:
  int open_directory(bool make) const;
  const std::string dir_, folder_, head_;
};

}  // namespace us::driver
