// SPDX-License-Identifier: Apache-2.0
#include "timing/balance.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace us::timing {
namespace {

constexpr u64 kMostCtas = 1 << 20;
constexpr float kAlike = 0.01f;

}  // namespace

Balance::Balance(const std::vector<CtaWork>& work, u64 ctas, u32 sms, u32 resident) : sms_(sms), resident_(resident) {
  if (ctas > kMostCtas || work.size() < ctas) return;
  const auto [low, high] = std::ranges::minmax_element(work, {}, &CtaWork::most);
  const auto [least, most] = std::ranges::minmax_element(work, {}, &CtaWork::average);
  if (high->most - low->most <= kAlike * high->most && most->average - least->average <= kAlike * most->average) return;
  work_.resize(ctas);
  for (const CtaWork& w : work)
    if (w.cta < ctas) work_[w.cta] = w;
}

// Of a multiprocessor, by what the CTAs of each of its slots have together.
double Balance::load(const double* slots) const {
  double most = 0, all = 0, used = 0;
  for (u32 k = 0; k < resident_; ++k) most = std::max(most, slots[k]), all += slots[k], used += slots[k] > 0;
  return used > 0 ? (1 - busy_) * most + busy_ * all / used : 0;
}

double Balance::load_of(u32 sm) const {
  std::vector<double> slots(resident_);
  for (u64 cta = sm; cta < work_.size(); cta += sms_) *std::ranges::min_element(slots) += weight(cta);
  return load(slots.data());
}

void Balance::set(double busy) {
  busy_ = busy;
  if (work_.empty()) return;
  struct Slot {
    double until;
    u32 number;  // the first of all multiprocessors, the second ..
    bool operator>(const Slot& o) const { return until != o.until ? until > o.until : number > o.number; }
  };
  std::priority_queue<Slot, std::vector<Slot>, std::greater<>> free;
  for (u32 k = 0; k < sms_ * resident_; ++k) free.push({0, k});
  std::vector<double> slots(std::size_t{sms_} * resident_);
  for (u64 cta = 0; cta < work_.size(); ++cta) {
    Slot s = free.top();
    free.pop();
    s.until += weight(cta);
    slots[s.number % sms_ * resident_ + s.number / sms_] = s.until;
    free.push(s);
  }
  most_ = 0;
  for (u32 sm = 0; sm < sms_; ++sm) most_ = std::max(most_, load(&slots[std::size_t{sm} * resident_]));
}

Balance::Of Balance::of(u32 sm, const std::vector<u32>& some, u64 replayed) const {
  if (work_.empty() || some.empty()) return {};
  double left = 0, theirs = 0;
  u64 count = 0;
  for (u64 cta = sm + replayed * sms_; cta < work_.size(); cta += sms_) left += weight(cta), ++count;
  for (const u32 cta : some) theirs += weight(cta);
  if (left <= 0 || theirs <= 0) return {};
  return {most_ / load_of(sm), left / static_cast<double>(count) * static_cast<double>(some.size()) / theirs};
}

}  // namespace us::timing
