// SPDX-License-Identifier: Apache-2.0
// What the toolkit's assembler said about modules, on disk: one small text file each, in a directory that only the user
// may write to. What is damaged, another user's or a link is a miss, never an error.
#pragma once
#include <optional>
#include <string>

#include "sass/cubin.h"

namespace us::driver {

class FactsCache {
 public:
  explicit FactsCache(std::string dir) : dir_(std::move(dir)) {}  // empty: no cache
  // A cubin without kernels: the assembler refused the module.
  std::optional<sass::Cubin> load(const std::string& key) const;
  void store(const std::string& key, const sass::Cubin&) const;

 private:
  int open_directory(bool make) const;
  std::string dir_;
};

}  // namespace us::driver
