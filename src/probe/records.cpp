// SPDX-License-Identifier: Apache-2.0
#include "probe/records.h"

#include <algorithm>

namespace us::probe {

constexpr std::size_t kWords = 1 << 14;

const u64* read_record(const u64* words, Record& r) {
  const u32 high = static_cast<u32>(words[1] >> 32);
  r.site = static_cast<u32>(words[0]), r.lanes = static_cast<u32>(words[0] >> 32);
  r.cta = static_cast<u32>(words[1]), r.warp = high & ((1u << RecordCode::kWarpBits) - 1);
  r.code = RecordCode::unpack(high);
  words += 2;
  switch (r.code.addresses) {
    case RecordCode::Addresses::None:
      return words;
    case RecordCode::Addresses::Same:
      r.address.fill(*words);
      return words + 1;
    case RecordCode::Addresses::Row:
      for (u32 l = 0; l < kLanes; ++l) r.address[l] = *words + u64{l} * r.code.bytes;
      return words + 1;
    case RecordCode::Addresses::Each:
      std::copy_n(words, kLanes, r.address.begin());
      return words + kLanes;
  }
  return words;
}

void write_record(RecordBuffer& to, const Record& r) {
  if (to.next > to.last) to.full(&to);
  RecordCode code = r.code;
  if (code.kind != RecordCode::Kind::Block) code.addresses = RecordCode::Addresses::Each;
  *to.next++ = r.site | u64{r.lanes} << 32;
  *to.next++ = record_of_warp(r.cta, r.warp) | u64{code.pack()} << 32;
  if (code.addresses == RecordCode::Addresses::Each) to.next = std::copy(r.address.begin(), r.address.end(), to.next);
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
