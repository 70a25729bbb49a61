// SPDX-License-Identifier: Apache-2.0
// Compiled objects on disk, one file per kernel variant. A damaged or foreign file is a miss, never an error.
#pragma once
#include <string>

#include "codegen/compile.h"

namespace us::codegen {

class ObjectCache {
 public:
  explicit ObjectCache(std::string dir) : dir_(std::move(dir)) {}
  bool enabled() const { return !dir_.empty(); }
  bool load(const std::string& key, ObjectCode* out) const;
  void store(const std::string& key, const ObjectCode&) const;  // atomic: written aside, then renamed

 private:
  std::string path(const std::string& key) const;
  std::string dir_;
};

// 128 bits of everything that decides the code, as 32 hex digits.
std::string cache_key(const ir::Module&, const std::string& kernel, const Variant&, const Options&,
                      const std::string& cpu);

}  // namespace us::codegen
