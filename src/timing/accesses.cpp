// SPDX-License-Identifier: Apache-2.0
// The rules are those that an H200 follows in every launch of oracle/timing/accesses.txt.
#include "timing/accesses.h"

#include <algorithm>
#include <bit>

#include "timing/lines.h"

namespace us::timing {
namespace {

using probe::Record;
using probe::RecordCode;
using Addresses = probe::RecordCode::Addresses;
u32 divided(u32 a, u32 b) { return (a + b - 1) / b; }

template <class F>
void each_lane(u32 lanes, F&& f) {
  for (; lanes; lanes &= lanes - 1) f(static_cast<u32>(std::countr_zero(lanes)));
}

// One lane behind the other, without gaps.
bool is_run(const Record& r) {
  const u32 run = r.lanes >> std::countr_zero(r.lanes);
  return !(run & (run + 1)) && r.code.addresses == Addresses::Row;
}

void count_units(const Record& r, Sectors& s) {
  if (const bool same = r.code.addresses == Addresses::Same; same || is_run(r)) {
    const u32 n = same ? 1 : static_cast<u32>(std::popcount(r.lanes));
    const u64 first = r.address(static_cast<u32>(std::countr_zero(r.lanes))), last = first + u64{n} * r.code.bytes - 1;
    s.sectors = static_cast<u32>(last / kSectorBytes - first / kSectorBytes + 1);
    s.lines = static_cast<u32>(last / kLineBytes - first / kLineBytes + 1);
    return;
  }
  const Lines all(r);
  s.sectors = all.sectors(), s.lines = all.count();
}

// Words of each bank that the lanes touch, at most: each turn serves one word of every bank that has some left.
u32 wavefronts_of_pass(const Record& r, u32 lanes) {
  constexpr u32 kMost = 17 * probe::kLanes;  // words of all lanes, of 64 bytes each
  u64 words[kMost], served[kBanks];
  u32 left = 0;
  each_lane(lanes, [&](u32 l) {
    const u64 at = r.address(l), last = (at + r.code.bytes - 1) / kBankBytes;
    for (u64 k = at / kBankBytes; k <= last; ++k) words[left++] = k;
  });
  u32 turns = 0;
  for (; left; ++turns) {
    for (u32 k = 0; k < left; ++k) served[words[k] % kBanks] = words[k];
    u32 others = 0;
    for (u32 k = 0; k < left; ++k) {
      const u64 word = words[k];
      words[others] = word;
      others += served[word % kBanks] != word;
    }
    left = others;
  }
  return turns;
}

// Does each lane ask for what the lane whose number differs in that bit asks for, if that one asks at all?
bool neighbours_agree(const Record& r, u32 bit) {
  bool agree = true;
  each_lane(r.lanes, [&](u32 l) {
    if (r.lanes >> (l ^ bit) & 1) agree = agree && r.address(l) == r.address(l ^ bit);
  });
  return agree;
}

}  // namespace

Sectors sectors_of(const Record& r) {
  Sectors s;
  if (!r.lanes) return s;
  count_units(r, s);
  s.ideal = std::min(s.sectors, divided(static_cast<u32>(std::popcount(r.lanes)) * r.code.bytes, kSectorBytes));
  return s;
}

Sectors sectors_of(const Record& r, const Lines& l) {
  const u32 n = l.sectors(), bytes = static_cast<u32>(std::popcount(r.lanes)) * r.code.bytes;
  return {n, std::min(n, divided(bytes, kSectorBytes)), l.count()};
}

u32 most_at_one_address(const Record& r) {
  u64 of[probe::kLanes];
  u32 n = 0, most = 0;
  each_lane(r.lanes, [&](u32 l) { of[n++] = r.address(l); });
  std::sort(of, of + n);
  for (u32 k = 0, same = 0; k < n; ++k) most = std::max(most, same = k && of[k] == of[k - 1] ? same + 1 : 1);
  return most;
}

Wavefronts wavefronts_of(const Record& r) {
  const u32 n = static_cast<u32>(std::popcount(r.lanes));
  Wavefronts w;
  if (!n) return w;
  u32 lanes = r.code.bytes <= 4 ? 32 : r.code.bytes <= 8 ? 16 : 8;
  if (lanes < 32 && r.code.kind == RecordCode::Kind::Read && (neighbours_agree(r, 1) || neighbours_agree(r, 2)))
    lanes *= 2;
  const u32 all = lanes == 32 ? ~0u : (1u << lanes) - 1;
  for (u32 first = 0; first < probe::kLanes; first += lanes)
    if (const u32 part = r.lanes & all << first) w.wavefronts += wavefronts_of_pass(r, part), ++w.passes;
  w.ideal = std::min(w.wavefronts, divided(n * r.code.bytes, kBanks * kBankBytes));
  return w;
}

}  // namespace us::timing
