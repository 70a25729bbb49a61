// SPDX-License-Identifier: Apache-2.0
// The slices of L2, each of which does one thing after the other: what stores and atomics of a launch cost the busiest.
#pragma once
#include <algorithm>
#include <tuple>
#include <vector>

#include "timing/lines.h"
#include "timing/parameters.h"

namespace us::timing {

// What a line of which so many bytes of each sector are stored takes (oracle/timing/stores.txt).
struct StoreCost {
  double packets = 0;  // on the way to L2: its sectors, and which bytes of them count, unless all do
  double cycles = 0;   // of a slice
  StoreCost operator-() const { return {-packets, -cycles}; }
  StoreCost& operator+=(const StoreCost& o) { return packets += o.packets, cycles += o.cycles, *this; }
};
// `narrow`: words of less than 4 bytes.
inline StoreCost cost_of_store(const Parameters& p, const u8 (&bytes)[4], bool narrow = false) {
  u32 sectors = 0;
  bool part = false;
  for (const u8 n : bytes) sectors += n > 0, part = part || (n && n < kSectorBytes);
  const double of_part = narrow ? p.slice_store_bytes : p.slice_store_part;
  return {double(sectors + part), p.slice_store + sectors * p.slice_store_sector + part * of_part};
}
inline StoreCost cost_of_line(const Parameters& p) { return cost_of_store(p, {32, 32, 32, 32}); }
inline double slice_cost(const Parameters& p, const AtomicSectors::Sector& s, bool swaps) {
  const double parts = std::max(s.lanes > 1 ? p.slice_atomic : 0, s.most / p.atomic_address);
  return (s.whole() ? p.slice_atomic_whole : parts) * (swaps && s.lanes > s.most ? p.slice_swap : 1);
}
inline double slice_cost_of_atomic(const Parameters& p, const AtomicSectors& sectors, bool swaps) {
  double cycles = 0;
  for (const AtomicSectors::Sector& s : sectors) cycles += slice_cost(p, s, swaps);
  return cycles;
}

// Lines that a multiprocessor stores have twenty places, and wait there until it has no other accesses to do or there
// is none for another one: what else is stored of them leaves with them (oracle/timing/parts.txt: gaps, fields_write;
// joins.txt), in place of what it overlaps, too (again.txt: whole_shared, one_word_shared). What leaves keeps its place
// until it is out. `joins`: false where it is not known when they leave, so that what overlaps stands for another line.
class StoreBuffer {
 public:
  explicit StoreBuffer(const Parameters& p, bool joins = true) : p_(p), joins_(joins) {}
  struct Stored {
    bool anew = false;   // a line that did not wait
    bool again = false;  // of one that waited it overlaps something
    StoreCost cost{};    // less than none, where sectors of which a part waited are complete
  };
  struct Waiting {
    u64 line = kNone, at = 0;
    double out = kWaits;  // when it is
    u8 bytes[4] = {};
    bool narrow = false;
    Lines::Bytes touched{};
  };
  // In the place of what is out first, if it does not wait: else of what has waited longest.
  Stored add(const Lines::Line& l, bool narrow = false) {
    Waiting* w = find(l.line);
    Stored r{.again = w && w->touched.meets(l.touched)};
    r.anew = !w || (r.again && !joins_);
    if (!w) w = &place();
    if (r.anew) *w = {.line = l.line, .at = ++lines_, .narrow = narrow};
    if (!r.anew) r.cost = -cost_of_store(p_, w->bytes, w->narrow);
    w->touched |= l.touched, w->narrow = w->narrow && narrow;
    for (u32 k = 0; k < 4; ++k) w->bytes[k] = w->touched.of_sector(k);
    r.cost += cost_of_store(p_, w->bytes, w->narrow);
    return r;
  }
  bool has(u64 line) { return find(line); }
  // Of those that wait.
  Waiting* oldest() {
    Waiting* w = nullptr;
    for (Waiting& o : waiting_)
      if (o.line != kNone && o.out == kWaits && (!w || o.at < w->at)) w = &o;
    return w;
  }
  void leave(Waiting& w, double out) { w.out = out; }
  bool leaving() const { return next_out() < kWaits; }
  double next_out() const { return std::ranges::min_element(waiting_, {}, &Waiting::out)->out; }
  bool room(double at) const {
    return std::ranges::any_of(waiting_, [&](const Waiting& w) { return w.line == kNone || w.out <= at; });
  }

 private:
  static constexpr u64 kNone = ~u64{0};
  static constexpr double kWaits = 1e30;
  Waiting* find(u64 line) {
    const auto it = std::ranges::find_if(waiting_, [&](const Waiting& w) { return w.line == line && w.out == kWaits; });
    return it == std::end(waiting_) ? nullptr : it;
  }
  Waiting& place() {
    return *std::ranges::min_element(waiting_, {},
                                     [](const Waiting& w) { return std::tuple(w.line != kNone, w.out, w.at); });
  }
  const Parameters& p_;
  const bool joins_;
  Waiting waiting_[20];
  u64 lines_ = 0;
};

// Of lines that were stored again, how many might have waited, and how many did and left once.
struct StoredAgain {
  double all = 0, joined = 0;
  void operator+=(const StoredAgain& o) { all += o.all, joined += o.joined; }
};

class Slices {
 public:
  explicit Slices(const Parameters& p) : busy_(static_cast<std::size_t>(p.l2_slices)) {}
  void add(u64 line, double cycles) {
    if (const u64 granule = line / 2; granule != last_) last_ = granule, slice_ = slice_of(granule);
    busy_[slice_] += cycles, all_ += cycles;
  }
  void add(const Slices& other, double times = 1) {
    for (std::size_t k = 0; k < busy_.size(); ++k) busy_[k] += times * other.busy_[k];
    all_ += times * other.all_;
  }
  // How far a line is from a multiprocessor, of -1 to 1: not public, so any.
  static double way(u64 line) { return static_cast<double>((line / 2 * 0x9e3779b97f4a7c15ull) >> 40) / (1 << 23) - 1; }
  double busiest() const { return *std::ranges::max_element(busy_); }
  double share_of_busiest() const { return all_ > 0 ? busiest() / all_ : 1.0 / static_cast<double>(busy_.size()); }

 private:
  // A KiB lies in two slices, which change every 256 bytes; 8 words that lie 1, 4 or 16 KiB apart have a slice each, 32
  // have 16 slices at least (oracle/timing/meets.txt, few_words). Partitions change every 64 KiB: of 64 KiB one slice
  // has three parts at least, of 1 MiB all have the same (mixes.txt, integer_words; load.txt, scatter). A MiB begins
  // anywhere: words that lie 256 KiB apart are spread (turns.txt, columns_write of 65536). Which follows which is not
  // public.
  u64 slice_of(u64 granule) const {
    const u64 half = busy_.size() / 2, pairs = half / 2, block = granule / 256, pair = granule % 256 / 4;
    const u64 begin = (block / 16 * 0x9e3779b97f4a7c15ull) >> 40;
    const u64 of_half = begin + block / 2 * 64 + pair / 16 * (pairs / 4) + pair % 16;
    return (begin / pairs + block) % 2 * half + of_half % pairs * 2 + (granule + std::popcount(granule / 512)) % 2;
  }
  std::vector<double> busy_;
  double all_ = 0;
  u64 last_ = ~u64{0}, slice_ = 0;  // what came last, and where
};

}  // namespace us::timing
