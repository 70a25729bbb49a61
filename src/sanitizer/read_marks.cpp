// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/read_marks.h"

#include <sys/mman.h>

namespace us::sanitizer {

namespace {
constexpr std::size_t kSpare = 16;
}

ReadMarks::ReadMarks(u64 begin, u64 bytes) : begin_(begin), bytes_(bytes), first_(begin & ~u64{kLine - 1}) {
  lines_ = (begin + bytes - first_ + kLine - 1) / kLine + 2;  // a row may end in the next one
  mapped_ = lines_ * (4 + kLine / kBlockBytes * sizeof(u16));
  void* const at = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return;
  words_ = static_cast<u32*>(at);
  sites_ = reinterpret_cast<u16*>(words_ + lines_);
}

ReadMarks::~ReadMarks() {
  if (words_) ::munmap(words_, mapped_);
}

void ReadMarks::there(std::vector<u8>& pages) const {
  constexpr u64 kFew = 64;
  pages.assign((lines_ + kPageLines - 1) / kPageLines, 1);
  if (pages.size() > kFew && ::mincore(words_, lines_ * 4, pages.data())) std::ranges::fill(pages, u8{1});
}

void ReadMarks::mark_row(u64 address, u32 words, u16 site) {
  u64 at = (address - first_) / 4;
  for (u32 rest = words; rest;) {
    const u32 from = static_cast<u32>(at % 32), n = std::min(32 - from, rest);
    words_[at / 32] |= (n == 32 ? ~0u : (1u << n) - 1) << from;
    at += n, rest -= n;
  }
  for (u64 k = (address - first_) / kBlockBytes; k <= (at - 1) / kBlockWords; k++) sites_[k] = site;
}

ReadMarks* ReadsOfLaunches::find(u64 launch, const RowActor& who, u64 begin, u64 bytes) {
  Reads& r = running_[launch];
  r.who = who;
  for (const auto& m : r.of)
    if (m->holds(begin, bytes)) return m->begin(), m.get();
  const auto old = std::ranges::find_if(spare_, [&](const auto& m) { return m->holds(begin, bytes); });
  if (old != spare_.end()) {
    r.of.push_back(std::move(*old));
    spare_.erase(old);
  } else {
    auto fresh = std::make_unique<ReadMarks>(begin, bytes);
    if (!fresh->usable()) return nullptr;
    if (spare_.size() > kSpare) spare_.erase(spare_.begin());
    r.of.push_back(std::move(fresh));
  }
  r.of.back()->begin();
  return r.of.back().get();
}

namespace {
void note_words(const Planes& p, const RowActor& a, u64 address, u32 bits) {
  read_range(p, address, bits, 0, a);
  for (u64 at = address; bits; at += 4, bits >>= 1)
    if (bits & 1 && p.is_split(at)) read_range(p.bytes_of_words(), 4 * at, 0xf, 0, a);
}
}  // namespace

// What the launch itself has written there, astray, stays as it is.
void ReadsOfLaunches::note(const Planes& p, const RowActor& who, const ReadMarks& m, u64 address, u32 bits) {
  RowActor a = who;
  a.unwritten = true;
  for (u32 half = 0; half < 32; half += kBlockWords) {
    const u32 there = bits >> half & 0xffff;
    if (!there) continue;
    const u64 at = address + 4 * half;
    a.site = m.site(at);
    Block& b = p.block(at);
    if (there == 0xffff && b.w >> 5 < a.floor)
      b.read(a.segment, {0, Spread::kOneLane}, a.site);
    else
      note_words(p, a, address, there << half);
  }
}

// What an earlier launch has read, and this one too, was before it.
void ReadsOfLaunches::keep(const Planes& p, const RowActor& who, std::unique_ptr<ReadMarks> m) {
  for (Ended& e : ended_) {
    if (!e.marks->alike(*m)) continue;
    e.marks->take([&](u64 at, u32 bits) {
      if (const u32 others = bits & ~m->bits(at)) note(p, e.who, *e.marks, at, others);
    });
    spare_.push_back(std::move(e.marks));
  }
  std::erase_if(ended_, [](const Ended& e) { return !e.marks; });
  ended_.push_back({who, std::move(m)});
}

void ReadsOfLaunches::forget_ended() {
  for (Ended& e : ended_) e.marks->take([](u64, u32) {}), spare_.push_back(std::move(e.marks));
  ended_.clear();
}

void ReadsOfLaunches::to_planes(const Planes& p) {
  for (auto& [launch, r] : running_)
    for (auto& m : r.of)
      m->take([&](u64 at, u32 bits) {
        *p.touched(at) = 1;
        note(p, r.who, *m, at, bits);
      });
}

void ReadsOfLaunches::memory_changes(const Planes& p, u64 begin, u64 bytes) {
  std::vector<u64> changed;
  for (const Ended& e : ended_)
    if (e.marks->overlaps(begin, bytes)) changed.push_back(e.marks->begin_of_memory());
  ended_to_planes(p, [&](u64 at) { return std::ranges::find(changed, at) != changed.end(); });
  std::erase_if(spare_, [&](const auto& m) { return m->overlaps(begin, bytes); });
  for (auto& [launch, r] : running_)
    for (auto& m : r.of)
      if (m->overlaps(begin, bytes)) return to_planes(p);
}

}  // namespace us::sanitizer
