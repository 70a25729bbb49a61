// SPDX-License-Identifier: Apache-2.0
#include "timing/caches.h"

#include <algorithm>

namespace us::timing {

L1::L1(u64 bytes)
    : sets_(static_cast<u32>(std::max<u64>(1, bytes / 128 / kWays))),
      tags_(u64{sets_} * kWays, ~u64{0}),
      filled_(sets_),
      lines_(tags_.size()) {}

u32 L1::find(u64 line) {
  const u32 set = set_of(line);
  u32 at = kNone;
  for (u32 k = 0; k < kWays; ++k) at = tags_[set + k] == line ? set + k : at;
  if (at != kNone && lines_[at].epoch != epoch_) lines_[at].sectors &= lines_[at].dirty, lines_[at].epoch = epoch_;
  return at;
}

u32 L1::missing(u64 line, u32 sectors, double& arrives) {
  const u32 at = find(line);
  if (at == kNone) return sectors;
  const Line& l = lines_[at];
  for (u32 k = 0; k < 4; ++k)
    if (sectors & l.sectors & 1u << k) arrives = std::max(arrives, l.arrives[k]);
  return sectors & ~l.sectors;
}

L1::Gone L1::fill(u64 line, u32 sectors, double arrives) {
  u32 at = find(line);
  Gone gone;
  if (at == kNone) {
    at = set_of(line);
    u8& filled = filled_[at / kWays];
    random_ = random_ * 1664525 + 1013904223;
    at += filled < kWays ? filled++ : (random_ >> 24) % kWays;
    gone = {tags_[at], lines_[at].dirty};
    tags_[at] = line, lines_[at] = {.epoch = epoch_};
  }
  Line& l = lines_[at];
  for (u32 k = 0; k < 4; ++k)
    if (sectors & ~l.sectors & 1u << k) l.arrives[k] = arrives;
  l.sectors |= sectors;
  return gone;
}

void L1::store(u64 line, double at, double leaves) {
  const u32 place = find(line);
  if (place == kNone) return;
  Line& l = lines_[place];
  if (at < l.leaves) l.sectors &= l.dirty;
  l.leaves = leaves;
}

L1::Gone L1::write_back(u64 line, u32 sectors) {
  const Gone gone = fill(line, sectors, 0);
  lines_[find(line)].dirty |= sectors;
  return gone;
}

void InstructionCache::Queue::add(u32 line) {
  if (has(line)) return;
  if (line >= there_.size()) there_.resize(line + 1);
  there_[line] = true;
  order_.push_back(line);
  if (order_.size() - oldest_ > most_) there_[order_[oldest_++]] = false;
}

InstructionCache::InstructionCache(const Parameters& p, u32 lines, bool warm, double all)
    : p_(p), near_(p.fetch_line + (p.fetch_line_all - p.fetch_line) * all) {
  for (u32 k = 0; k < std::min(lines, warm ? kCacheLines : kFirstLines); ++k) {
    arrives_.push_back(warm ? 0 : p.fetch_cold + near_ * k);
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
    const double latency = arrives_[next] > 0 ? p_.l2_latency : p_.fetch_dram;
    arrives_[next] = now + latency + k;
    cache_.add(next);
  }
  return std::max(arrives_[line], now + (near ? near_ * (jump ? 3 : 1) : 0));
}

double ConstantCache::read(const probe::Record& r, double at) {
  u64 lines[probe::kLanes];
  u32 count = 0;
  for (u32 l = 0; l < probe::kLanes; ++l)
    if (r.lanes >> l & 1) lines[count++] = r.address(l) / kLine;
  std::sort(lines, lines + count);
  count = static_cast<u32>(std::unique(lines, lines + count) - lines);
  for (u32 k = 0; k < count; ++k) {
    const auto known = std::ranges::find(near_, lines[k]);
    if (known != near_.end())
      near_.erase(known), at += k ? p_.constant_line : p_.constant_hit;
    else
      at += behind_.emplace(lines[k], true).second ? p_.constant_first : p_.constant_behind;
    near_.push_back(lines[k]);
    if (near_.size() > static_cast<std::size_t>(p_.constant_bytes / kLine)) near_.erase(near_.begin());
  }
  return at;
}

}  // namespace us::timing
