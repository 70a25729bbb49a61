// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/journal.h"

#include <new>

#include "sanitizer/records.h"

namespace us::sanitizer {

void Journal::begin(u32 process, const std::string& program) { write_(process_record(process, program)); }

void Journal::write_counts(Entry& e) {
  e.written = e.times;
  write_(times_record(e.id, e.times, e.blocks));
}

void Journal::found(const Finding& f) {
  if (!wanted_.test(static_cast<std::size_t>(f.check))) return;
  std::string key = key_of(f);
  std::lock_guard l(m_);
  const auto [it, fresh] = found_.try_emplace(std::move(key));
  Entry& e = it->second;
  e.times += f.times;
  e.blocks += f.blocks;
  if (fresh) {
    e.id = found_.size();
    e.written = e.times;
    write_(finding_record(e.id, f));
  } else if (e.times >= 2 * e.written) {
    write_counts(e);
  }
}

void Journal::judged(const std::string& kernel) {
  std::lock_guard l(m_);
  u64& launches = judged_[kernel];
  if (++launches == 1) write_(judged_record(kernel, launches));
}

void Journal::not_judged(const std::string& what, const std::string& why) {
  std::lock_guard l(m_);
  u64& times = not_judged_[{what, why}];
  if (++times == 1) write_(not_judged_record({what, why, times}));
}

void Journal::end() {
  std::lock_guard l(m_);
  for (auto& [key, e] : found_)
    if (e.written != e.times) write_counts(e);
  for (const auto& [kernel, launches] : judged_)
    if (launches > 1) write_(judged_record(kernel, launches));
  for (const auto& [what, times] : not_judged_)
    if (times > 1) write_(not_judged_record({what.first, what.second, times}));
  write_(end_record());
}

// A thread of the parent may have held the lock.
void Journal::forget() {
  new (&m_) std::mutex;
  found_.clear();
  judged_.clear();
  not_judged_.clear();
}

}  // namespace us::sanitizer
