// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>

#include "timing/accesses.h"

namespace us::timing {

// The lines of global memory that an access touches, and sectors of each.
class Lines {
 public:
  Lines() = default;
  explicit Lines(const probe::Record& r) {
    using Addresses = probe::RecordCode::Addresses;
    const u64 bytes = std::max(1u, r.code.bytes);
    if (r.code.addresses == Addresses::Each)
      gather(r.lanes, bytes, [&](u32 l) { return r.each[l]; });
    else if (r.code.addresses == Addresses::Pattern)
      gather(r.lanes, bytes, [&](u32 l) { return r.first + r.each[l]; });
    else
      gather(r.lanes, bytes, [&](u32 l) { return r.address(l); });
  }
  // Of a line, one bit each.
  struct Bytes {
    u64 low, high;
    static Bytes from(u64 first, u64 end) {  // of addresses in one line
      const u64 a = first % kLineBytes, b = (end - 1) % kLineBytes + 1;
      return {bits(std::min<u64>(a, 64), std::min<u64>(b, 64)),
              bits(std::max<u64>(a, 64) - 64, std::max<u64>(b, 64) - 64)};
    }
    bool meets(const Bytes& o) const { return (low & o.low) | (high & o.high); }
    void operator|=(const Bytes& o) { low |= o.low, high |= o.high; }
    u8 of_sector(u32 k) const {
      return static_cast<u8>(std::popcount(static_cast<u32>((k < 2 ? low : high) >> k % 2 * 32)));
    }

   private:
    static u64 bits(u64 a, u64 b) { return a == b ? 0 : ~u64{0} >> (64 - (b - a)) << a; }
  };
  struct Line {
    u64 line;
    u32 sectors;
    u8 bytes[4];  // that lanes ask for, of each sector
    Bytes touched;
  };
  const Line* begin() const { return lines_; }
  const Line* end() const { return lines_ + count_; }
  u32 count() const { return count_; }
  // Look-ups of tags, two lines at a time if one is even and one odd.
  u32 look_ups() const {
    u32 odd = 0;
    for (const Line& l : *this) odd += l.line & 1;
    return std::max(odd, count_ - odd);
  }
  u32 sectors() const {
    u32 n = 0;
    for (const Line& l : *this) n += static_cast<u32>(std::popcount(l.sectors));
    return n;
  }

  void add(u64 address, u64 bytes) {
    for (u64 s = address / kSectorBytes, last = (address + bytes - 1) / kSectorBytes; s <= last; ++s) {
      Line* at = count_ && lines_[count_ - 1].line == s / 4 ? lines_ + count_ - 1 : find(s / 4);
      if (at == lines_ + count_) {
        if (count_ == std::size(lines_)) return;
        *at = {s / 4, 0, {}, {}}, ++count_;
      }
      at->sectors |= 1u << s % 4;
      const u64 from = std::max(address, s * kSectorBytes), to = std::min(address + bytes, (s + 1) * kSectorBytes);
      u8& sum = at->bytes[s % 4];
      sum = static_cast<u8>(std::min<u64>(kSectorBytes, sum + to - from));
      at->touched |= Bytes::from(from, to);
    }
  }

 private:
  // Lanes that follow each other without a gap are one piece.
  template <class Address>
  void gather(u32 lanes, u64 bytes, Address&& address) {
    u64 first = 0, end = 0;
    for (; lanes; lanes &= lanes - 1) {
      const u64 at = address(static_cast<u32>(std::countr_zero(lanes)));
      if (at != end || end == first) {
        if (end != first) add(first, end - first);
        first = at;
      }
      end = at + bytes;
    }
    if (end != first) add(first, end - first);
  }
  Line* find(u64 line) {
    return std::find_if(lines_, lines_ + count_, [&](const Line& l) { return l.line == line; });
  }
  Line lines_[2 * probe::kLanes];  // count_ of them
  u32 count_ = 0;
};

// Sectors that an atomic operation changes, and lanes of each that come to one address. Such lanes go to L2 one after
// the other, each time with one lane of every other word (oracle/timing/meets.cu: lts__t_requests,
// lts__t_sectors_op_red).
class AtomicSectors {
 public:
  explicit AtomicSectors(const probe::Record& r) {
    u64 addresses[probe::kLanes];
    u32 n = 0;
    for (u32 l = 0; l < probe::kLanes; ++l)
      if (r.lanes >> l & 1) addresses[n++] = r.address(l);
    std::sort(addresses, addresses + n);
    for (u32 k = 0, same = 0; k < n; ++k) {
      same = k && addresses[k] == addresses[k - 1] ? same + 1 : 1;
      if (const u64 s = addresses[k] / kSectorBytes; !count_ || sectors_[count_ - 1].sector != s)
        sectors_[count_++] = {s, 0, 0, 0};
      Sector& at = sectors_[count_ - 1];
      at.most = std::max(at.most, same), ++at.lanes, at.bytes += r.code.bytes;
    }
  }
  struct Sector {
    u64 sector;
    u32 most, lanes, bytes;
    bool whole() const { return most == 1 && bytes == kSectorBytes; }  // each of its words is changed once
  };
  const Sector* begin() const { return sectors_; }
  const Sector* end() const { return sectors_ + count_; }
  // What requests take, in sectors of one that has all four of its line: `alone` is what a request takes besides, if
  // several of its lanes ask for one sector.
  double operations(double alone) const {
    double all = 0, n = 0;
    u32 most = 0;
    bool several = false;
    for (u32 k = 0; k < count_; ++k) {
      n += sectors_[k].most, most = std::max(most, sectors_[k].most);
      several = several || sectors_[k].lanes > sectors_[k].most;
      if (k + 1 < count_ && sectors_[k + 1].sector / 4 == sectors_[k].sector / 4) continue;
      all += several ? alone * most + (1 - alone / 4) * n : n;
      n = most = several = 0;
    }
    return all;
  }
  u32 requests() const {  // of lines
    u32 n = 0, most = 0;
    for (u32 k = 0; k < count_; ++k) {
      most = std::max(most, sectors_[k].most);
      if (k + 1 == count_ || sectors_[k + 1].sector / 4 != sectors_[k].sector / 4) n += most, most = 0;
    }
    return n;
  }

 private:
  Sector sectors_[probe::kLanes];  // count_ of them
  u32 count_ = 0;
};

}  // namespace us::timing
