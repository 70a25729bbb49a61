// SPDX-License-Identifier: Apache-2.0
#include "device/copy.h"

#include <algorithm>

#include "device/machine.h"
#include "device/mbarrier.h"
#include "device/resident.h"

namespace us::device {
namespace {

const u8* source(const Transfer& t) { return t.snapshot.empty() ? t.src : t.snapshot.data(); }

void write_masked(u8* dst, const u8* src, u32 bytes, u16 mask) {
  for (u32 k = 0; k < bytes; ++k)
    if (mask >> (k % 16) & 1) dst[k] = src[k];
}

void move(const Transfer& t) {
  const u8* src = source(t);
  if (t.tensor && t.dst) return memory::load_box(*t.tensor, t.dst);
  if (t.tensor && t.reduction.op == ReduceOp::None) return memory::store_box(*t.tensor, src);
  if (t.tensor)
    return memory::for_each_piece(
        *t.tensor, src, [&](u8* to, const u8* from, u32 bytes) { reduce_into(to, from, bytes, t.reduction); });
  if (t.reduction.op != ReduceOp::None) return reduce_into(t.dst, src, t.bytes, t.reduction);
  if (t.byte_mask != 0xffff) return write_masked(t.dst, src, t.bytes, t.byte_mask);
  std::memmove(t.dst, src, t.src_bytes);
  std::memset(t.dst + t.src_bytes, 0, t.bytes - t.src_bytes);
}

void deliver(Slot& s, const Transfer& t) {
  move(t);
  if (t.mbarrier >= 0) complete_tx(s, u32(t.mbarrier), t.bytes);
}

Transfer take(Slot& s, size_t k) {
  Transfer t = std::move(s.queue[k]);
  s.queue.erase(s.queue.begin() + std::ptrdiff_t(k));
  s.in_flight = u32(s.queue.size());
  return t;
}

u64 next_random(Slot& s) {  // xorshift64*
  u64& x = s.random;
  x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
  return x * 0x2545f4914f6cdd1d >> 32;
}

}  // namespace

void issue(Slot& s, Transfer&& t) {
  const AsyncPolicy policy = s.worker->machine.options.async;
  if (policy == AsyncPolicy::Eager) return deliver(s, t);
  s.queue.push_back(std::move(t));
  s.in_flight = u32(s.queue.size());
  while (policy == AsyncPolicy::Random && next_random(s) % 2 && deliver_one(s)) {
  }
}

bool deliver_one(Slot& s) {
  if (s.queue.empty()) return false;
  const bool random = s.worker->machine.options.async == AsyncPolicy::Random;
  const Transfer t = take(s, random ? next_random(s) % s.queue.size() : 0);
  s.events++;
  deliver(s, t);
  return true;
}

void deliver_all(Slot& s) {
  while (deliver_one(s)) {
  }
}

void finish_groups(Slot& s, const Warp& w, u32 lane, u32 group, bool read_only) {
  for (size_t k = 0; k < s.queue.size();) {
    Transfer& t = s.queue[k];
    if (t.mbarrier >= 0 || t.owner != &w || t.lane != lane || t.group >= group) {
      ++k;
    } else if (read_only) {
      if (t.snapshot.empty())
        t.snapshot.assign(t.src, t.src + (t.tensor ? memory::shared_bytes(t.tensor->map) : t.bytes));
      ++k;
    } else {
      deliver(s, take(s, k));
    }
  }
}

}  // namespace us::device
