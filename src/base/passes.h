// SPDX-License-Identifier: Apache-2.0
// The steps of compilation by name: passes.inc.
#pragma once
#include <bitset>
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace us {

enum class Pass : u8 {
#define US_PASS(id, name, need, what) id,
#include "base/passes.inc"
#undef US_PASS
  Count
};

struct PassRow {
  enum class Need : u8 { Required, Optional };
  std::string_view name;
  Need need;
  std::string_view what;
};
std::span<const PassRow> pass_rows();  // by Pass
std::string_view name_of(Pass);

struct PassTime {
  std::string name;
  double ms = 0;
};

class PassSet {
 public:
  bool has(Pass p) const { return bits_[static_cast<std::size_t>(p)]; }
  void add(Pass p) { bits_.set(static_cast<std::size_t>(p)); }
  u64 word() const { return bits_.to_ullong(); }

 private:
  std::bitset<static_cast<std::size_t>(Pass::Count)> bits_;
};

}  // namespace us
