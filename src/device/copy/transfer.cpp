// SPDX-License-Identifier: Apache-2.0
#include "device/copy/transfer.h"

#include <algorithm>

#include "device/probe/tell.h"
#include "device/schedule/machine.h"
#include "device/schedule/resident.h"
#include "device/sync/mbarrier.h"

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
  if (t.arrives) {  // what its thread copied before has come: in the order of issue it has anyway
    if (s.worker->machine.options.async.delivery == AsyncDelivery::Random) {
      u32 all[kWarpSize];
      std::fill_n(all, kWarpSize, ~0u);
      finish_groups(s, *t.issuer.warp, 1u << t.issuer.lane, all, {.bulk = false});
    }
    if (s.grid->listener) tell_delivered(s, t);
    return arrive_at(s, u32(t.mbarrier));
  }
  move(t);
  if (s.grid->listener) tell_delivered(s, t);
  if (t.mbarrier >= 0) complete_tx(s, u32(t.mbarrier), t.bytes);
}

}  // namespace

u64 next_random(Slot& s) {  // xorshift64*
  u64& x = s.random;
  x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
  return x * 0x2545f4914f6cdd1d >> 32;
}

namespace {
constexpr u32 kPage = 4096;
void read(const u8* p) { static_cast<void>(*static_cast<const volatile u8*>(p)); }
void read_range(const u8* p, u32 bytes) {
  for (u32 k = 0; k < bytes; k += kPage) read(p + k);
  if (bytes) read(p + bytes - 1);
}
void write_range(u8* p, u32 bytes) {  // what is there stays
  auto write = [](u8* at) { __atomic_fetch_or(at, u8{0}, __ATOMIC_RELAXED); };
  for (u32 k = 0; k < bytes; k += kPage) write(p + k);
  if (bytes) write(p + bytes - 1);
}

// A bad address is found here, on the fibre of the warp that names it: the scheduler, which delivers later, has no
// kernel to blame for it.
void touch(const Slot& s, const Transfer& t) {
  if (t.mbarrier >= 0) read(s.window + t.mbarrier);
  if (t.arrives) return;
  if (t.tensor) {
    const bool loads = t.dst != nullptr;
    return memory::for_each_piece(*t.tensor, loads ? t.dst : t.src, [&](u8* global, const u8* shared, u32 bytes) {
      read(shared);
      loads ? read_range(global, bytes) : write_range(global, bytes);
    });
  }
  if (t.snapshot.empty()) read_range(t.src, t.src_bytes);
  write_range(t.dst, t.bytes);
}

}  // namespace

void issue(Slot& s, Transfer&& t) {
  if (s.grid->listener) tell_transfer(s, t);
  const AsyncDelivery policy = s.worker->machine.options.async.delivery;
  if (policy == AsyncDelivery::Eager) return deliver(s, t);
  touch(s, t);
  Warp* const in_group = t.mbarrier < 0 ? t.issuer.warp : nullptr;
  const bool bulk = t.bulk;
  const u64 ticket = s.queue.push(std::move(t));
  if (in_group) in_group->tickets[bulk].push_back(ticket);
  while (policy == AsyncDelivery::Random && next_random(s) % 2 && deliver_one(s)) {
  }
}

bool deliver_one(Slot& s) {
  if (s.queue.empty()) return false;
  const bool random = s.worker->machine.options.async.delivery == AsyncDelivery::Random;
  const Transfer t = s.queue.take(random ? s.queue.any(next_random(s)) : s.queue.oldest());
  s.events++;
  deliver(s, t);
  return true;
}

void deliver_all(Slot& s) {
  while (deliver_one(s)) {
  }
}

void finish_groups(Slot& s, Warp& w, u32 lanes, const u32 (&before)[kWarpSize], Groups of) {
  std::vector<u64>& mine = w.tickets[of.bulk];
  std::vector<u64> due;
  size_t kept = 0;
  for (u64 ticket : mine) {
    Transfer* t = s.queue.find(ticket);
    if (!t) continue;  // delivered meanwhile
    const bool asked = (lanes >> t->issuer.lane & 1) && t->group < before[t->issuer.lane];
    if (asked && of.read_only && t->snapshot.empty())
      t->snapshot.assign(t->src, t->src + (t->tensor ? memory::shared_bytes(t->tensor->map) : t->bytes));
    if (asked && !of.read_only)
      due.push_back(ticket);
    else
      mine[kept++] = ticket;
  }
  mine.resize(kept);
  for (u64 ticket : due) deliver(s, s.queue.take(ticket));
}

}  // namespace us::device
