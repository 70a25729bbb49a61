// SPDX-License-Identifier: Apache-2.0
// Loads of memory that launches only read (only_read.h), as they are marked while a launch runs: which words, and of
// each 64 bytes the instruction that read there last. Compiled code marks most of them itself (probe::QuickSite). What
// has been marked goes to the planes when the launch ends and others run, or when somebody may ask there: who comes
// next and stores elsewhere need not, and reads what was read before, mostly.
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "sanitizer/rows.h"

namespace us::sanitizer {

class ReadMarks {
 public:
  static constexpr u32 kLine = 128;  // bytes of a word of marks
  ReadMarks(u64 begin, u64 bytes);   // of this memory
  ReadMarks(const ReadMarks&) = delete;
  ReadMarks& operator=(const ReadMarks&) = delete;
  ~ReadMarks();
  bool usable() const { return words_ != nullptr; }  // the host has room
  bool holds(u64 begin, u64 bytes) const { return begin == begin_ && bytes == bytes_; }
  bool overlaps(u64 begin, u64 bytes) const { return begin < begin_ + bytes_ && begin_ < begin + bytes; }
  u64 words() const { return reinterpret_cast<u64>(words_) - first_ / kLine * 4; }
  u64 sites() const { return reinterpret_cast<u64>(sites_) - first_ / kBlockBytes * 2; }
  void mark(u64 address, u32 words, u16 site) {  // 1, 2 or 4, aligned
    const u64 at = (address - first_) / 4;
    words_[at / 32] |= ((1u << words) - 1) << at % 32;
    sites_[at / kBlockWords] = site;
  }
  void mark_row(u64 address, u32 words, u16 site);  // any number
  u16 site(u64 address) const { return sites_[(address - first_) / kBlockBytes]; }
  void begin() { any_ = true; }                                               // there may be marks from now on
  u32 bits(u64 address) const { return words_[(address - first_) / kLine]; }  // of its line
  bool alike(const ReadMarks& o) const { return o.holds(begin_, bytes_); }
  u64 begin_of_memory() const { return begin_; }
  // f(address, bits): of each line with marks.
  template <class F>
  void look(F&& f) const {
    if (any_)
      each_there([&](u64 k) {
        if (const u32 bits = words_[k]) f(first_ + k * kLine, bits);
      });
  }
  // The same. They are gone then.
  template <class F>
  void take(F&& f) {
    look([&](u64 at, u32 bits) { words_[(at - first_) / kLine] = 0, f(at, bits); });
    any_ = false;
  }

 private:
  static constexpr u64 kPageLines = 1024;    // of a page of the host
  void there(std::vector<u8>& pages) const;  // which pages of words_ the host has
  template <class F>
  void each_there(F&& f) const {
    std::vector<u8> pages;
    there(pages);
    for (u64 p = 0; p < pages.size(); p++)
      for (u64 k = p * kPageLines; pages[p] & 1 && k < std::min(lines_, (p + 1) * kPageLines); k++) f(k);
  }
  const u64 begin_, bytes_, first_;
  u64 mapped_ = 0, lines_ = 0;
  bool any_ = false;  // there may be marks
  u32* words_ = nullptr;
  u16* sites_ = nullptr;
};

// Of launches that run, and what is not on the planes yet of those that have ended.
class ReadsOfLaunches {
 public:
  struct Reads {
    RowActor who;  // everybody
    std::vector<std::unique_ptr<ReadMarks>> of;
  };
  // Null: there is no room.
  ReadMarks* find(u64 launch, const RowActor& who, u64 begin, u64 bytes);
  // f(begin, bytes, site) for what the launch has read. `alone`: no other launch runs.
  template <class F>
  void end(u64 launch, const Planes&, bool alone, F&& f);
  void to_planes(const Planes&);  // of all launches that run: pages are touched
  // Of those that have ended, where which(first byte of the memory).
  template <class F>
  void ended_to_planes(const Planes&, F&& which);
  void forget_ended();
  void memory_changes(const Planes&, u64 begin, u64 bytes);

 private:
  struct Ended {
    RowActor who;
    std::unique_ptr<ReadMarks> marks;
  };
  static void note(const Planes&, const RowActor&, const ReadMarks&, u64 address, u32 bits);
  void keep(const Planes&, const RowActor&, std::unique_ptr<ReadMarks>);
  std::map<u64, Reads> running_;
  std::vector<Ended> ended_;  // in this order; one of each memory
  std::vector<std::unique_ptr<ReadMarks>> spare_;
};

template <class F>
void ReadsOfLaunches::end(u64 launch, const Planes& p, bool alone, F&& f) {
  const auto found = running_.find(launch);
  if (found == running_.end()) return;
  for (auto& m : found->second.of) {
    u64 begin = 0, end = 0;
    u16 site = 0;
    const auto add = [&](u64 at, u64 bytes) {
      if (at == end) return void(end += bytes);
      if (end) f(begin, end - begin, site);
      begin = at, end = at + bytes, site = m->site(at);
    };
    m->look([&](u64 at, u32 bits) {
      if (bits == ~0u)
        add(at, ReadMarks::kLine);
      else
        for (u32 k = 0; k < 32; k++)
          if (bits >> k & 1) add(at + 4 * u64{k}, 4);
    });
    if (end) f(begin, end - begin, site);
    keep(p, found->second.who, std::move(m));
  }
  running_.erase(found);
  if (!alone) ended_to_planes(p, [](u64) { return true; });
}

template <class F>
void ReadsOfLaunches::ended_to_planes(const Planes& p, F&& which) {
  for (Ended& e : ended_) {
    if (!which(e.marks->begin_of_memory())) continue;
    e.marks->take([&](u64 at, u32 bits) { note(p, e.who, *e.marks, at, bits); });
    spare_.push_back(std::move(e.marks));
  }
  std::erase_if(ended_, [](const Ended& e) { return !e.marks; });
}

}  // namespace us::sanitizer
