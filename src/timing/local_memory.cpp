// SPDX-License-Identifier: Apache-2.0
#include "timing/local_memory.h"

#include <algorithm>
#include <bit>

namespace us::timing {

Lines LocalMemory::lines(u32 warp, const Row& row, const probe::Record* r) {
  constexpr u64 kLocal = u64{1} << 62, kWord = 4;
  constexpr u64 kFrame = u64{1} << 33;  // beyond what records have
  const u64 base = kLocal | u64{warp} << 40;
  Lines lines;
  if (!r && row.frame < 0) return lines;
  for (u32 l = 0; l < probe::kLanes; ++l) {
    if (r && !(r->lanes >> l & 1)) continue;
    const u64 first = r ? r->address(l) : kFrame + static_cast<u32>(row.frame);
    const u64 end = first + (r ? std::max(1u, r->code.bytes) : row.words * kWord);
    for (u64 at = first, next; at < end; at = next) {
      next = std::min((at / kWord + 1) * kWord, end);
      lines.add(base + at / kWord * kLineBytes + u64{l} * kWord + at % kWord, static_cast<u32>(next - at));
    }
  }
  return lines;
}

// The part of the local memory in use, of all multiprocessors, that so many bytes of L2 cannot hold.
double LocalMemory::beyond(double bytes) const {
  const double all = static_cast<double>(lines_.size()) * kLineBytes * sms_;
  return all > bytes ? 1 - bytes / all : 0;
}

void LocalMemory::give_back(const L1::Gone& gone, double at) {
  if (!gone.sectors) return;
  const u32 sectors = static_cast<u32>(std::popcount(gone.sectors));
  const double dram = sectors * kSectorBytes * beyond(p_.l2_dirty);
  written_ += dram;
  share_.write_back(at, sectors, dram);
}

void LocalMemory::write(const Lines& lines, double at) {
  for (const Lines::Line& l : lines) {
    lines_.insert(l.line);
    give_back(l1_.write_back(l.line, l.sectors), at);
  }
}

LocalMemory::Answer LocalMemory::read(const Lines& lines, double at, double hit) {
  Answer a{hit};
  u32 requests = 0;
  for (const Lines::Line& l : lines) {
    const u32 m = l1_.missing(l.line, l.sectors, a.done);
    a.missing += static_cast<u32>(std::popcount(m)), requests += m != 0;
  }
  if (!a.missing) return a;
  const double bytes = a.missing * kSectorBytes, dram = bytes * beyond(p_.l2_bytes);
  read_ += dram;
  a.done = std::max(a.done, share_.load(at, bytes, requests, dram));
  for (const Lines::Line& l : lines) give_back(l1_.fill(l.line, l.sectors, a.done), at);
  return a;
}

}  // namespace us::timing
