// SPDX-License-Identifier: Apache-2.0
#include "timing/caches.h"

#include <algorithm>

namespace us::timing {

L1::L1(u64 bytes) : sets_(static_cast<u32>(std::max<u64>(1, bytes / 128 / kWays))), lines_(u64{sets_} * kWays) {}

u32 L1::missing(u64 line, u32 sectors, double& arrives) {
  for (Line *l = set_of(line), *end = l + kWays; l != end; ++l) {
    if (l->line != line) continue;
    l->used = ++time_;
    if (sectors & l->sectors) arrives = std::max(arrives, l->arrives);
    return sectors & ~l->sectors;
  }
  return sectors;
}

void L1::fill(u64 line, u32 sectors, double arrives) {
  Line* const set = set_of(line);
  Line* to = set;
  for (Line* l = set; l != set + kWays; ++l) {
    if (l->line == line) {
      to = l;
      break;
    }
    if (l->used < to->used) to = l;
  }
  if (to->line != line) *to = {line, 0, 0, 0};
  to->sectors |= sectors, to->used = ++time_, to->arrives = std::max(to->arrives, arrives);
}

void InstructionCache::Queue::add(u32 line) {
  if (has(line)) return;
  if (line >= there_.size()) there_.resize(line + 1);
  there_[line] = true;
  order_.push_back(line);
  if (order_.size() - oldest_ > most_) there_[order_[oldest_++]] = false;
}

InstructionCache::InstructionCache(const Parameters& p, u32 lines) : p_(p) {
  for (u32 k = 0; k < std::min(lines, kCacheLines); ++k) {
    arrives_.push_back(p.fetch_cold + p.fetch_line * k);
    cache_.add(k);
  }
}

double InstructionCache::ready(u32 partition, u32 line, bool jump, double now) {
  Queue& buffer = buffers_[partition];
  if (buffer.has(line)) return line < arrives_.size() ? std::max(now, arrives_[line]) : now;
  buffer.add(line);
  if (arrives_.size() < line + kAhead) arrives_.resize(line + kAhead);
  const bool near = cache_.has(line);
  for (u32 k = 0; k < kAhead; ++k) {
    const u32 next = line + k;
    if (cache_.has(next)) continue;
    const double latency = arrives_[next] > 0 ? p_.l2_latency : p_.fetch_cold;
    arrives_[next] = now + latency + k;
    cache_.add(next);
  }
  return std::max(arrives_[line], now + (near ? p_.fetch_line * (jump ? 3 : 1) : 0));
}

}  // namespace us::timing
