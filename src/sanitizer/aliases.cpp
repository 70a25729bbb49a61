// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/aliases.h"

namespace us::sanitizer {

void Aliases::told(const probe::Memory& m) {
  if (m.kind == probe::Memory::Kind::Mapped && m.physical) {
    mappings_[m.begin] = {m.bytes, m.physical};
  } else if (mappings_.erase(m.begin) == 0) {
    return;
  }
  count();
}

void Aliases::count() {
  changes_.note();
  first_.clear(), words_.clear();
  std::unordered_map<u64, u64> seen;
  for (const auto& [begin, m] : mappings_) {
    const auto [at, fresh] = seen.try_emplace(m.physical, begin);
    if (!fresh) first_[m.physical] = at->second;
  }
  shared_ = !first_.empty();
}

std::optional<Aliases::Place> Aliases::of(u64 address) const {
  auto at = mappings_.upper_bound(address);
  if (at == mappings_.begin()) return {};
  --at;
  if (address - at->first >= at->second.bytes) return {};
  const auto first = first_.find(at->second.physical);
  if (first == first_.end()) return {};
  return Place{first->second + (address - at->first), at->first};
}

}  // namespace us::sanitizer
