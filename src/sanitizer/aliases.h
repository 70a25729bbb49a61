// SPDX-License-Identifier: Apache-2.0
// Memory that is mapped at several addresses. Cells belong to one of them; an access by another is looked up there, and
// needs fence.proxy.alias between it and what was done by the first.
#pragma once
#include <map>
#include <optional>
#include <unordered_map>

#include "probe/observer.h"
#include "sanitizer/changes.h"

namespace us::sanitizer {

class Aliases {
 public:
  explicit Aliases(Changes& c) : changes_(c) {}
  struct Use {  // the last one of a word
    u32 segment = 0, lane = 0, site = 0;
    u64 through = 0;  // the mapping
  };
  struct Word {
    Use written, read;
  };
  struct Place {
    u64 address = 0;  // whose cells count
    u64 through = 0;
  };
  void told(const probe::Memory&);
  bool any() const { return shared_; }
  std::optional<Place> of(u64 address) const;  // nothing: memory with one address
  Word& word(u64 address) { return words_[address / 4]; }

 private:
  struct Mapping {
    u64 bytes = 0, physical = 0;
  };
  void count();
  std::map<u64, Mapping> mappings_;     // by address
  std::unordered_map<u64, u64> first_;  // by physical memory that has several addresses: the lowest
  std::unordered_map<u64, Word> words_;
  bool shared_ = false;
  Changes& changes_;
};

}  // namespace us::sanitizer
