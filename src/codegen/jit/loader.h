// SPDX-License-Identifier: Apache-2.0
// Places a relocatable x86-64 ELF object in executable memory. Fresh and cached code take the same road.
#pragma once
#include <memory>

#include "base/types.h"

namespace us::codegen {

class LoadedObject {
 public:
  static Result<std::unique_ptr<LoadedObject>> load(const std::vector<u8>& elf, const char* symbol);
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;
  void* entry() const { return entry_; }
  bool contains(const void* pc) const { return pc >= text_ && pc < static_cast<const u8*>(text_) + text_size_; }
  u64 text_offset(const void* pc) const {
    return static_cast<u64>(static_cast<const u8*>(pc) - static_cast<const u8*>(text_));
  }

 private:
  LoadedObject() = default;
  void* base_ = nullptr;
  std::size_t size_ = 0;
  void* entry_ = nullptr;
  const void* text_ = nullptr;
  std::size_t text_size_ = 0;
};

}  // namespace us::codegen
