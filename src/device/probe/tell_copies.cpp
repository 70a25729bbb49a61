// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/sync/mbarrier.h"

namespace us::device {
namespace {

using probe::Range, probe::Space;

// Bytes of a piece of a box that a load reads: none behind the end of the tensor's row, where that can be told.
u64 bytes_inside(const memory::TensorMap& m, u64 at, u64 bytes) {
  for (u32 d = 2; d < m.rank; ++d)
    if (m.strides[d - 1] % m.strides[0]) return bytes;
  if (m.interleave) return bytes;
  const u64 in_row = m.rank > 1 ? (at - m.address) % m.strides[0] : at - m.address;
  const u64 row = m.size(0) * m.element_bits() / 8;
  return in_row < row ? std::min(bytes, row - in_row) : 0;
}

// The box's places in the tensor, neighbours in one.
std::vector<Range> pieces(const Transfer& t) {
  const bool loads = t.dst != nullptr;
  constexpr std::size_t kUsual = 64;
  std::vector<Range> all;
  all.reserve(kUsual);
  memory::for_each_piece(*t.tensor, loads ? t.dst : t.src, [&](u8* global, const u8*, u32 bytes) {
    const u64 at = std::bit_cast<u64>(global), n = loads ? bytes_inside(t.tensor->map, at, bytes) : bytes;
    if (n) all.push_back({Space::Global, at, n});
  });
  if (!std::ranges::is_sorted(all, {}, &Range::begin)) std::ranges::sort(all, {}, &Range::begin);
  std::size_t merged = 0;  // ranges, in front
  for (const Range& r : all) {
    Range* const last = merged ? &all[merged - 1] : nullptr;
    if (last && last->begin + last->bytes >= r.begin)
      last->bytes = std::max(last->begin + last->bytes, r.begin + r.bytes) - last->begin;
    else
      all[merged++] = r;
  }
  all.resize(merged);
  return all;
}

// The bytes that a mask of each sixteen leaves.
std::vector<Range> written(const Slot& s, const Transfer& t) {
  if (t.byte_mask == 0xffff) return {range_at(s, t.dst, t.bytes)};
  std::vector<Range> all;
  for (u32 k = 0; k < t.bytes; ++k) {
    if (!(t.byte_mask >> k % 16 & 1)) continue;
    const Range r = range_at(s, t.dst + k, 1);
    if (!all.empty() && all.back().begin + all.back().bytes == r.begin)
      ++all.back().bytes;
    else
      all.push_back(r);
  }
  return all;
}

probe::Transfer::Kind kind_of(const Transfer& t) {
  using Kind = probe::Transfer::Kind;
  if (t.tensor) return Kind::Tensor;
  if (!t.snapshot.empty()) return Kind::StoreAsync;
  return t.bulk ? Kind::Bulk : Kind::CpAsync;
}

probe::Who who(const Transfer& t) {
  probe::Who r = who(*t.issuer.warp, 1u << t.issuer.lane);
  r.site = t.site;
  return r;
}

}  // namespace

Range range_at(const Slot& s, const u8* at, u64 bytes) {
  const u64 offset = std::bit_cast<u64>(at) - std::bit_cast<u64>(s.window);
  if (offset < cluster_window_bytes(s)) return {Space::Shared, offset, bytes};
  return {Space::Global, std::bit_cast<u64>(at), bytes};
}

void tell_transfer(Slot& s, Transfer& t) {
  Warp& w = *t.issuer.warp;
  t.site = w.probe_site;
  if (t.arrives) return;
  t.id = ++s.grid->transfers;
  std::vector<Range> from, to;
  probe::Transfer e;
  e.kind = kind_of(t);
  e.id = t.id;
  if (t.tensor) {
    const auto& m = t.tensor->map;
    const u8* const place = t.dst ? t.dst : t.src;
    // No braces assigned to a choice: g++ 12 evaluates what is in them for the first arm only.
    std::vector<Range>& shared = t.dst ? to : from;
    shared.push_back(range_at(s, place, memory::shared_bytes(m)));
    std::vector<Range>& global = t.dst ? from : to;
    global = pieces(t);
    u64 inside = 0;
    for (const Range& r : global) inside += r.bytes;
    e.outside = (u64{memory::box_bytes(m)} - std::min<u64>(inside, memory::box_bytes(m))) * 8 / m.element_bits();
    e.tensormap = t.map;
  } else {
    if (t.snapshot.empty() && t.src_bytes) from = {range_at(s, t.src, t.src_bytes)};
    to = written(s, t);
  }
  e.from = from, e.to = to, e.beyond = t.beyond;
  e.reduces = t.reduction.op != ReduceOp::None, e.multicast = t.multicast;
  using Completion = probe::Transfer::Completion;
  e.completion = t.mbarrier >= 0 ? Completion::Mbarrier : t.bulk ? Completion::BulkGroup : Completion::Group;
  if (t.mbarrier >= 0)
    e.mbarrier = u64(t.mbarrier), e.tx_bytes = t.bytes;
  else
    w.told->filled[t.bulk][t.issuer.lane] = t.group + 1, w.told->copies = true;
  w.listener->transfer(who(t), e);
}

void tell_copy_row(Warp& w, u32 lanes, u64 dst, u64 src, u64 bytes) {
  Slot& s = *w.home->slot;
  const probe::Range from = range_at(s, std::bit_cast<const u8*>(src), bytes * kWarpSize),
                     to = range_at(s, w.window + dst, bytes * kWarpSize);
  probe::Transfer e;
  e.kind = probe::Transfer::Kind::CpAsync;
  e.id = s.grid->transfers.fetch_add(kWarpSize) + 1;
  e.from = {&from, 1}, e.to = {&to, 1};
  e.completion = probe::Transfer::Completion::Group;
  for (u32 l = 0; l < kWarpSize; ++l)
    w.told->filled[0][l] = lanes >> l & 1 ? w.small_groups[l] + 1 : w.told->filled[0][l];
  w.told->copies = true;
  w.listener->transfer(who(w, lanes), e);
}

void tell_delivered(Slot& s, const Transfer& t) {
  Warp& w = *t.issuer.warp;
  if (!t.arrives) {
    probe::Copies c;
    c.id = t.id, c.bulk = t.bulk;
    w.listener->copies(who(t), c);
  }
  if (t.mbarrier < 0) return;
  Mbarrier word(*reinterpret_cast<const u64*>(s.window + t.mbarrier));
  probe::Mbarrier m;
  m.kind = t.arrives ? probe::Mbarrier::Kind::Arrive : probe::Mbarrier::Kind::CompleteTx;
  m.address = u64(t.mbarrier), m.before = word.word();
  if (!t.arrives) m.tx = t.bytes;
  m.completed = t.arrives ? word.arrive(1) : word.complete_tx(i32(t.bytes));
  m.after = word.word();
  m.remote = m.address / kCtaSharedStride != w.home->cluster_rank;
  w.listener->mbarrier(who(t), m);
}

namespace {
template <class Number, class F>
void by_number(u32 lanes, const Number& number, F f) {
  if (lanes == ~0u) {  // mostly all have one
    u64 differ = 0;
    for (u32 l = 1; l < kWarpSize; ++l) differ |= number[l] ^ number[0];
    if (!differ) return f(lanes, number[0]);
  }
  for (u32 left = lanes; left;) {
    const u32 l = first_lane(left);
    u32 group = 0;
    for (u32 k : Lanes(left)) group |= u32{number[k] == number[l]} << k;
    left &= ~group;
    f(group, number[l]);
  }
}
}  // namespace

void tell_committed(Warp& w, u32 lanes, bool bulk, const u32 (&groups)[kWarpSize]) {
  w.told->copies = true;
  by_number(lanes, groups, [&](u32 group, u64 number) {
    probe::Copies c;
    c.kind = probe::Copies::Kind::Committed, c.bulk = bulk, c.id = number;
    w.listener->copies(who(w, group), c);
  });
}

void tell_waited(Warp& w, u32 lanes, bool bulk, bool read_only, const u64* left) {
  const u32* const groups = bulk ? w.bulk_groups : w.small_groups;
  w.told->copies = true;
  by_number(lanes, left, [&](u32 group, u64 n) {
    const bool all = u32(n) == ~0u;
    u32* const waited = w.told->waited[bulk];
    const u32 behind = u32(n);
    for (u32 l = 0; l < kWarpSize; ++l) {
      const u32 now = all ? groups[l] + 1 : std::max(waited[l], groups[l] > behind ? groups[l] - behind : 0);
      waited[l] = group >> l & 1 ? now : waited[l];
    }
    probe::Copies c;
    c.kind = probe::Copies::Kind::Waited, c.bulk = bulk, c.read_only = read_only, c.id = all ? ~u64{0} : n;
    w.listener->copies(who(w, group), c);
  });
}

void tell_unfinished(Warp& w, u32 gone) {
  if (!w.told->copies) return;
  for (const bool bulk : {false, true}) {
    u32 lanes = 0;
    for (u32 l : Lanes(gone)) lanes |= u32{w.told->filled[bulk][l] > w.told->waited[bulk][l]} << l;
    if (!lanes) continue;
    probe::Who r = who(*w.home);
    r.warp = w.warp_id, r.lanes = lanes, r.live = w.live;
    probe::Copies c;
    c.kind = probe::Copies::Kind::Exited, c.bulk = bulk;
    w.listener->copies(r, c);
  }
}

}  // namespace us::device
