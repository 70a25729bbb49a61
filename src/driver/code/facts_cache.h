// SPDX-License-Identifier: Apache-2.0
// What the toolkit's assembler said about modules, on disk.
#pragma once
#include <optional>
#include <string>

#include "driver/code/kept_files.h"
#include "sass/cubin.h"

namespace us::driver {

class FactsCache {
 public:
  explicit FactsCache(std::string dir) : files_(std::move(dir), "facts", "understudy-facts 1") {}  // empty: no cache
  // A cubin without kernels: the assembler refused the module.
  std::optional<sass::Cubin> load(const std::string& key) const;
  void store(const std::string& key, const sass::Cubin&) const;

 private:
  const KeptFiles files_;
};

}  // namespace us::driver
