// SPDX-License-Identifier: Apache-2.0
#include "probe/records.h"

#include <algorithm>

namespace us::probe {

constexpr std::size_t kWords = 1 << 14;

void write_record(RecordBuffer& to, const Record& r) {
  if (to.next > to.last) to.full(&to);
  *to.next++ = r.site | u64{r.lanes} << 32;
  *to.next++ = record_of_warp(r.cta, r.warp) | u64{r.code.pack()} << 32;
  if (r.code.addresses == RecordCode::Addresses::Each)
    to.next = std::copy_n(r.each, kLanes, to.next);
  else if (r.code.addresses != RecordCode::Addresses::None)
    *to.next++ = r.first;
  if (r.code.addresses == RecordCode::Addresses::Pair) *to.next++ = r.second;
  if (r.code.addresses == RecordCode::Addresses::Pattern) *to.next++ = reinterpret_cast<u64>(r.each);
}

RecordBuffer* Recording::buffer(u32 worker) {
  Mine& mine = of_worker_.at(worker);
  if (mine.words.empty()) {
    mine.words.resize(kWords);
    mine.next = mine.words.data(), mine.last = mine.next + kWords - kMostRecordWords;
    mine.full = empty;
    mine.all = this;
  }
  return &mine;
}

void Recording::empty(RecordBuffer* b) {
  Mine& mine = *static_cast<Mine*>(b);
  const u32 worker = static_cast<u32>(&mine - mine.all->of_worker_.data());
  mine.all->take_(mine.all->of_, worker, mine.words.data(), mine.next);
  mine.next = mine.words.data();
}

void Recording::finish() {
  for (Mine& mine : of_worker_)
    if (!mine.words.empty()) empty(&mine);
}

}  // namespace us::probe
