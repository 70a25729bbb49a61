// SPDX-License-Identifier: Apache-2.0
// The slices of L2, each of which does one thing after the other: what stores and atomics of a launch cost the busiest.
#pragma once
#include <algorithm>
#include <vector>

#include "timing/lines.h"
#include "timing/parameters.h"

namespace us::timing {

// Cycles of a slice. A line that is stored entirely takes as long as the rate of all SMs says.
inline double slice_cost_of_store(const Parameters& p, double lines, double sectors, bool bytes = false) {
  const double line = bytes ? p.slice_store_bytes : p.slice_store;
  return std::max(lines * line, sectors * kSectorBytes * p.l2_slices / p.l2_write);
}
inline double slice_cost(const Parameters& p, const AtomicSectors::Sector& s, bool swaps) {
  return std::max(s.lanes > 1 ? p.slice_atomic : 0, s.most / p.atomic_address) *
         (swaps && s.lanes > s.most ? p.slice_swap : 1);
}
inline double slice_cost_of_atomic(const Parameters& p, const AtomicSectors& sectors, bool swaps) {
  double cycles = 0;
  for (const AtomicSectors::Sector& s : sectors) cycles += slice_cost(p, s, swaps);
  return cycles;
}

// Two stores of a warp that follow each other leave a multiprocessor together, if they are of one line and do not
// overlap; a third begins anew (oracle/timing/mixes.txt, stores_with_gaps: 1, 1.2, 1.75 and 1.95 requests a line).
class StoreBuffer {
 public:
  // Sectors that must be stored now; the others are on their way.
  u32 add(u64 warp, u64 line, const u8 (&bytes)[4]) {
    Pending& p = pending_[line % std::size(pending_)];
    bool fits = p.line == line && p.warp == warp && p.stores < 2;
    for (u32 k = 0; k < 4; ++k) fits = fits && p.bytes[k] + bytes[k] <= kSectorBytes;
    if (!fits) p = {.line = line, .warp = warp};
    ++p.stores;
    u32 sectors = 0;
    for (u32 k = 0; k < 4; ++k) {
      sectors += bytes[k] && !p.bytes[k];
      p.bytes[k] = static_cast<u8>(p.bytes[k] + bytes[k]);
    }
    return sectors;
  }

 private:
  struct Pending {
    u64 line = ~u64{0}, warp = 0;
    u8 bytes[4] = {};
    u32 stores = 0;
  };
  Pending pending_[64];
};

class Slices {
 public:
  explicit Slices(const Parameters& p) : busy_(static_cast<std::size_t>(p.l2_slices)) {}
  void add(u64 line, double cycles) {
    if (const u64 granule = line / 2; granule != last_) last_ = granule, slice_ = slice_of(granule);
    busy_[slice_] += cycles, all_ += cycles;
  }
  void add(const Slices& other) {
    for (std::size_t k = 0; k < busy_.size(); ++k) busy_[k] += other.busy_[k];
    all_ += other.all_;
  }
  double busiest() const { return *std::ranges::max_element(busy_); }
  double share_of_busiest() const { return all_ > 0 ? busiest() / all_ : 1.0 / static_cast<double>(busy_.size()); }

 private:
  // A KiB lies in two slices, which change every 256 bytes (oracle/timing/meets.txt, few_words: of 2 to 32 lines that
  // lie 128 bytes to 16 KiB apart). Partitions change every 64 KiB: of 64 KiB one slice has three parts at least, of 1
  // MiB all have the same (mixes.txt, integer_words; load.txt, scatter). Which follows which is not public.
  u64 slice_of(u64 granule) const {
    const u64 half = busy_.size() / 2, pairs = half / 2, block = granule / 256, pair = granule % 256 / 4;
    return block % 2 * half + (block / 2 * 64 + pair) % pairs * 2 + granule % 2;
  }
  std::vector<double> busy_;
  double all_ = 0;
  u64 last_ = ~u64{0}, slice_ = 0;  // what came last, and where
};

}  // namespace us::timing
