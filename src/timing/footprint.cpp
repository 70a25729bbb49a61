// SPDX-License-Identifier: Apache-2.0
#include "timing/footprint.h"

namespace us::timing {

constexpr u64 kTogether = 32;  // lines that follow each other in memory do so in the table

Footprint::Entry& Footprint::find(u64 line) {
  const u64 mask = table_.size() - 1;
  u64 at = ((line / kTogether * 0x9e3779b97f4a7c15ull >> 20) + line % kTogether) & mask;
  while (table_[at].line != line && table_[at].line != ~u64{0}) at = (at + 1) & mask;
  return table_[at];
}

void Footprint::grow() {
  std::vector<Entry> old = std::move(table_);
  table_.assign(old.size() * 2, {});
  for (const Entry& e : old)
    if (e.line != ~u64{0}) find(e.line) = e;
}

u32 Footprint::touch(u64 line, u32 sectors) {
  if (used_ * 2 > table_.size()) grow();
  Entry& e = find(line);
  if (e.line != line) {
    e.line = line;
    ++used_;
  } else if (lines_ - e.since > most_lines_) {
    e.sectors = 0;
  }
  if (!e.sectors) e.since = static_cast<u32>(lines_++);
  const u32 missing = sectors & ~e.sectors;
  e.sectors |= sectors;
  return missing;
}

}  // namespace us::timing
