// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/bounds.h"

#include <algorithm>

namespace us::sanitizer {

using probe::Memory;

const Allocations::Block* Allocations::holding(const std::map<u64, Block>& in, u64 address) {
  auto at = in.upper_bound(address);
  if (at == in.begin()) return nullptr;
  --at;
  return address < at->second.end() ? &at->second : nullptr;
}

void Allocations::told(const Memory& m, HostStack::Addresses from) {
  changes_.note();
  last_ = nullptr;
  const bool comes = m.kind == Memory::Kind::Allocated || m.kind == Memory::Kind::Mapped;
  const Thread by = m.owner == Memory::Owner::Heap ? frees_ : Thread{};
  frees_ = {};
  variables_.erase(variables_.lower_bound(m.begin), variables_.lower_bound(m.begin + m.bytes));
  if (comes) {
    const Block b{.begin = m.begin, .bytes = m.bytes, .owner = m.owner, .mapped = m.kind == Memory::Kind::Mapped};
    const auto under = [&](const auto& other) { return other.second.begin < b.end() && b.begin < other.second.end(); };
    std::erase_if(freed_, under);
    for (auto at = live_.lower_bound(b.begin); at != live_.end() && under(*at);) at = live_.erase(at);
    live_[m.begin] = b;
    return;
  }
  auto at = live_.find(m.begin);
  if (at == live_.end()) return;
  freed_[m.begin] = at->second;
  freed_[m.begin].freed = std::move(from), freed_[m.begin].freed_by = m.node, freed_[m.begin].by = by;
  live_.erase(at);
  last_written_[0] = last_written_[1] = 0;
  std::erase_if(written_, [&](const auto& w) { return w.first >= m.begin && w.second <= m.begin + m.bytes; });
}

void Allocations::variable(const probe::Symbol& s) {
  changes_.note();
  if (s.space != probe::Space::Global || !s.bytes) return;
  if (!variables_.try_emplace(s.begin, s).second || live(s.begin)) return;
  live_[s.begin] = {.begin = s.begin, .bytes = s.bytes, .owner = Memory::Owner::Variable};
  last_ = nullptr;
}

const probe::Symbol* Allocations::variable_at(u64 address) const {
  auto at = variables_.upper_bound(address);
  if (at == variables_.begin()) return nullptr;
  const probe::Symbol& s = (--at)->second;
  return address < s.begin + s.bytes ? &s : nullptr;
}

const Allocations::Block* Allocations::live(u64 address) const {
  if (last_ && address - last_->begin < last_->bytes) return last_;
  const Block* b = holding(live_, address);
  if (b) last_ = b;
  return b;
}

const Allocations::Block* Allocations::freed(u64 address) const {
  return live(address) ? nullptr : holding(freed_, address);
}

const Allocations::Block* Allocations::nearest(u64 address) const {
  if (live_.empty()) return nullptr;
  auto above = live_.upper_bound(address);
  if (above == live_.begin()) return &above->second;
  auto below = std::prev(above);
  if (above == live_.end()) return &below->second;
  return address - below->second.end() <= above->first - address ? &below->second : &above->second;
}

void Allocations::host_wrote(u64 begin, u64 bytes) {
  changes_.note();
  u64 end = begin + bytes;
  auto at = written_.upper_bound(begin);
  if (at != written_.begin() && std::prev(at)->second >= begin) --at;
  while (at != written_.end() && at->first <= end) {
    begin = std::min(begin, at->first), end = std::max(end, at->second);
    at = written_.erase(at);
  }
  written_[begin] = end;
}

void Allocations::discarded(u64 begin, u64 bytes) {
  changes_.note();
  const u64 end = begin + bytes;
  last_written_[0] = last_written_[1] = 0;
  auto at = written_.upper_bound(begin);
  if (at != written_.begin()) --at;
  while (at != written_.end() && at->first < end) {
    const auto [from, to] = *at;
    if (to <= begin) {
      ++at;
      continue;
    }
    at = written_.erase(at);
    if (from < begin) written_[from] = begin;
    if (to > end) written_[end] = to;
  }
}

bool Allocations::was_written(u64 address) const {
  const Block* b = live(address);
  if (!b || b->mapped || (b->owner != Memory::Owner::Device && b->owner != Memory::Owner::Pool)) return true;
  auto at = written_.upper_bound(address);
  return at != written_.begin() && address < std::prev(at)->second;
}

// Of bytes of one block.
bool Allocations::all_written(u64 begin, u64 end) const {
  if (begin >= last_written_[0] && end <= last_written_[1]) return true;
  const Block* b = live(begin);
  if (!b || b->mapped || (b->owner != Memory::Owner::Device && b->owner != Memory::Owner::Pool)) return true;
  auto at = written_.upper_bound(begin);
  if (at == written_.begin() || end > (--at)->second) return false;
  last_written_[0] = at->first, last_written_[1] = at->second;
  return true;
}

std::string to_text(Memory::Owner o) {
  switch (o) {
    case Memory::Owner::Device:
      return "device memory";
    case Memory::Owner::Pool:
      return "memory of a pool";
    case Memory::Owner::Host:
      return "host memory";
    case Memory::Owner::Managed:
      return "managed memory";
    case Memory::Owner::Variable:
      return "variable";
    case Memory::Owner::Array:
      return "array";
    case Memory::Owner::Heap:
      return "memory of the device's malloc";
  }
  return "memory";
}

}  // namespace us::sanitizer
