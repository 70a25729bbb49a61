// SPDX-License-Identifier: Apache-2.0
// Compiled objects on disk, one file per kernel variant. A damaged or foreign file is a miss, never an error.
//
// What lies there is run, so it must be this user's own: directories and files that belong to somebody else, or that
// others may write, are not used, and no symbolic link is followed.
#pragma once
#include <atomic>
#include <functional>
#include <string>

#include "codegen/compile.h"

namespace us::codegen {

class ObjectCache {
 public:
  using Told = std::function<void(std::string_view)>;  // why the directory is not used; once
  explicit ObjectCache(std::string dir, Told told = {});
  bool enabled() const { return !dir_.empty() && !refused_; }
  bool load(const std::string& key, ObjectCode* out) const;
  void store(const std::string& key, const ObjectCode&) const;  // atomic: written aside, then renamed

 private:
  int shard(const std::string& key, bool create) const;  // open directory of the key's file, or -1
  int directory(int at, const std::string& name, bool create) const;
  std::string dir_;
  Told told_;
  mutable std::atomic<bool> refused_ = false;
};

// 128 bits of everything that decides the code, as 32 hex digits.
std::string cache_key(const ir::Module&, const std::string& kernel, const Variant&, const Options&,
                      const std::string& cpu);

}  // namespace us::codegen
