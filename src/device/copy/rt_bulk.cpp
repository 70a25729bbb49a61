// SPDX-License-Identifier: Apache-2.0
// Runtime functions of bulk and tensor copies, st.async and red.async: from the operands of each lane to a Transfer.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/abi/bulk_code.h"
#include "device/access/limits.h"
#include "device/copy/transfer.h"
#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/schedule/machine.h"
#include "device/sync/mbarrier.h"

namespace us::device {
namespace {

constexpr u32 kBulkUnit = 16;  // bytes: size and alignment of bulk copies

[[gnu::noinline, gnu::cold]] void refuse(Warp& w, Outcome outcome, std::string&& what, u32 lane,
                                         probe::Refused refused = probe::Refused::Other) {
  die(w, outcome, std::move(what), 1u << lane, refused);
}

u8* shared_at(Warp& w, u64 offset, u64 bytes, u32 lane, const char* what) {
  if (offset >> 32 || !in_shared(w, u32(offset), bytes)) [[unlikely]]
    refuse(w, Outcome::IllegalAddress,
           fmt::format("{} of {} bytes at shared address {:#x}: outside the {} bytes of shared memory that a block has",
                       what, bytes, offset, w.grid->shared_end),
           lane, probe::Refused::Shared);
  return w.window + offset;
}

void require_multiple(Warp& w, u64 value, u32 unit, const char* what, u32 lane,
                      probe::Refused refused = probe::Refused::CopyAddress) {
  if (value % unit) [[unlikely]]
    refuse(w, Outcome::MisalignedAddress,
           fmt::format("bulk copy: {} is {:#x}; expected a multiple of {}", what, value, unit), lane, refused);
}

// All of the tensor is where the device may touch memory; what of it is not there faults by itself.
void require_tensor(Warp& w, const memory::TensorMap& m, bool stores, u32 lane) {
  require_rights(w, m.address, stores, lane);
  u64 last = m.address;
  for (u32 d = 1; d < m.rank; ++d) last += (m.size(d) - 1) * m.strides[d - 1];
  if (!in_global(w, last) && in_global(w, m.address)) {
    Refusal r = refuse_global(w, last);
    refuse(w, r.outcome, std::move(r.text), lane, r.what);
  }
}

// Where the pixels of an im2col copy may begin: in the bounding box, which lies inside the tensor for a store.
void require_pixel(Warp& w, const memory::TensorBox& b, bool stores, u32 lane) {
  const u32 first = b.map.interleave ? 0 : 1;
  for (u32 k = 0; k + 2 < b.map.rank; ++k) {
    const i64 lower = b.map.lower[k], end = i64(b.map.size(first + k)) + b.map.upper[k], at = b.at[first + k];
    if (at < lower || at >= end)
      refuse(w, Outcome::IllegalInstruction,
             fmt::format("bulk tensor copy: the pixels begin at {} in dimension {}; expected {} to {}", at, first + k,
                         lower, end - 1),
             lane);
    if (stores && (lower < 0 || b.map.upper[k] > 0))
      refuse(w, Outcome::IllegalInstruction,
             fmt::format("bulk tensor store: the bounding box of the pixels sticks out of the tensor in dimension {}",
                         first + k),
             lane);
  }
}

// What an H200 takes for an illegal instruction.
void require_coordinates(Warp& w, const memory::TensorBox& b, bool stores, u32 lane) {
  const i64 start = b.map.interleave ? 0 : i64{b.at[0]} * (b.map.element_bits() / 8);
  if (start % kBulkUnit)
    refuse(w, Outcome::IllegalInstruction,
           fmt::format(
               "bulk tensor copy: rows begin {} bytes into the tensor's (coordinate {}); expected a multiple of 16",
               start, b.at[0]),
           lane);
  for (u32 d = 0; stores && d < b.map.rank; ++d)
    if (b.at[d] < 0)
      refuse(w, Outcome::IllegalInstruction,
             fmt::format("bulk tensor store: coordinate {} of dimension {}; expected none below 0", b.at[d], d), lane);
  if (b.im2col()) require_pixel(w, b, stores, lane);
}

void require_mbarrier(Warp& w, u64 offset, u32 lane) {
  require_multiple(w, offset, 8, "the mbarrier's address", lane);
  shared_at(w, offset, 8, lane, "mbarrier");
}

// The same place in the shared memory of another CTA of the cluster.
u64 in_cta(u64 offset, u32 rank) { return offset % kCtaSharedStride + rank * kCtaSharedStride; }

// To shared memory, completing at an mbarrier; with a mask, to all its CTAs.
void deliver_to_shared(Warp& w, u32 lane, const Transfer& t, u64 dst, u64 mbarrier, bool multicast, u64 ctas) {
  Slot& s = *w.home->slot;
  if (!multicast) ctas = u64{1} << dst / kCtaSharedStride;
  if (ctas >> s.grid->cluster_ctas)
    refuse(w, Outcome::IllegalInstruction,
           fmt::format("multicast to CTAs {:#x}, but the cluster has {}", ctas, s.grid->cluster_ctas), lane,
           probe::Refused::ClusterRank);
  for (u32 rank = 0; rank < s.grid->cluster_ctas; ++rank) {
    if (!(ctas >> rank & 1)) continue;
    Transfer one = t;
    one.multicast = multicast;
    one.dst = w.window + (multicast ? in_cta(dst, rank) : dst);
    one.mbarrier = i64(multicast ? in_cta(mbarrier, rank) : mbarrier);
    issue(s, std::move(one));
  }
}

// A copy of a lane for who keeps records: pieces of global memory as rows that lie evenly apart.
class BulkRecord {
 public:
  BulkRecord(Warp& w, u32 lane) : w_(w), lane_(lane) {}
  void add(u64 at, u64 bytes) {
    if (row_ && at == last_ + row_ && rows_ == 1 && row_ + bytes <= kMostRow) return void(row_ += bytes);
    const bool next = rows_ && rows_ < kMostRows && at > last_ && bytes == row_ &&
                      (rows_ == 1 ? at - last_ < kMostStride : at - last_ == stride_);
    if (!next) {
      flush();
      for (first_ = at; bytes > kMostRow; bytes -= kMostRow, first_ += kMostRow) piece(first_, kMostRow, 1, 0);
      row_ = bytes, rows_ = 1, last_ = first_;
      return;
    }
    stride_ = at - last_, last_ = at, ++rows_;
  }
  void end(bool store, u64 mbarrier, u64 bytes) {
    flush();
    record_sync(w_, lane_, store ? probe::SyncOp::BulkStore : probe::SyncOp::BulkLoad, store ? 0 : mbarrier, bytes);
  }

 private:
  static constexpr u64 kMostRow = 1 << 19, kMostRows = 65535, kMostStride = u64{1} << 34;
  void piece(u64 at, u64 row, u64 rows, u64 stride) {
    const probe::BulkRows r{u16((row + 15) / 16), u16(rows), i32(stride / 16)};
    record_sync(w_, lane_, probe::SyncOp::BulkRows, at, r.pack());
  }
  void flush() {
    if (rows_) piece(first_, row_, rows_, stride_);
    rows_ = row_ = 0;
  }
  Warp& w_;
  const u32 lane_;
  u64 first_ = 0, last_ = 0, row_ = 0, rows_ = 0, stride_ = 0;
};

}  // namespace

void rt_CpBulk(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<CpBulkArgs>(args);
  for (u32 l : Lanes(mask)) {
    const BulkCode code(a.code[l]);
    const u64 dst = a.dst[l], src = a.src[l], bytes = a.bytes[l], mbarrier = a.mbarrier[l], bits = a.ctas[l];
    require_multiple(w, bytes, kBulkUnit, "the size", l, probe::Refused::CopySize);
    require_multiple(w, dst, kBulkUnit, "the destination", l);
    require_multiple(w, src, kBulkUnit, "the source", l);
    if (bytes && code.from_global()) require_rights(w, src, false, l);
    if (bytes && code.to_global()) require_rights(w, dst, true, l);
    Transfer t({&w, l});
    t.bytes = t.src_bytes = u32(bytes);
    t.reduction = {code.op(), code.element()};
    t.src = code.from_global() ? std::bit_cast<const u8*>(src) : shared_at(w, src, bytes, l, "bulk copy");
    if (w.records) {
      BulkRecord rows(w, l);
      if (code.to_global() || code.from_global()) rows.add(code.to_global() ? dst : src, bytes);
      rows.end(code.to_global(), mbarrier, bytes);
    }
    if (code.to_global()) {
      t.dst = std::bit_cast<u8*>(dst);
      if (code.masked()) t.byte_mask = u16(bits);
      t.group = w.bulk_groups[l];
      issue(*w.home->slot, std::move(t));
      continue;
    }
    shared_at(w, dst, bytes, l, "bulk copy");
    require_mbarrier(w, mbarrier, l);
    deliver_to_shared(w, l, t, dst, mbarrier, code.masked(), bits);
  }
}

void rt_CpTensor(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<CpTensorArgs>(args);
  for (u32 l : Lanes(mask)) {
    const BulkCode code(a.code[l]);
    const u64 map = a.map[l], shared = a.shared[l], mbarrier = a.mbarrier[l], ctas = a.ctas[l];
    require_multiple(w, map, 64, "the tensor map's address", l);
    require_generic(w, map, sizeof(memory::TensorMap), l);
    memory::TensorBox on_stack;
    std::shared_ptr<memory::TensorBox> kept;
    const bool now = machine_of(w).options.async.delivery == AsyncDelivery::Eager && !code.masked() &&
                     code.op() == ReduceOp::None && !w.listener;
    if (!now) kept = std::make_shared<memory::TensorBox>();
    memory::TensorBox* const box = now ? &on_stack : kept.get();
    std::memcpy(&box->map, std::bit_cast<const void*>(map), sizeof box->map);
    if (const char* why = memory::unusable(box->map, code.dimensions(), code.im2col()))
      refuse(w, Outcome::IllegalInstruction, fmt::format("bulk tensor copy: {}", why), l);
    require_tensor(w, box->map, code.to_global(), l);
    for (u32 d = 0; d < 5; ++d) box->at[d] = i32(u32(a.c[d][l]));
    for (u32 d = 0; d < 3; ++d) box->offset[d] = u16(a.o[d][l]);
    const u32 bytes = memory::box_bytes(box->map);
    require_multiple(w, shared, 128, "the address in shared memory", l);
    require_coordinates(w, *box, code.to_global(), l);
    u8* place = shared_at(w, shared, memory::shared_bytes(box->map), l, "bulk tensor copy");
    box->shared_offset = u32(shared % kCtaSharedStride);
    if (w.records) {
      BulkRecord rows(w, l);
      memory::for_each_piece(*box, place, [&](u8* at, const u8*, u32 n) { rows.add(std::bit_cast<u64>(at), n); });
      rows.end(code.to_global(), mbarrier, bytes);
    }
    if (now) {
      if (code.to_global()) {
        memory::store_box(*box, place);
      } else {
        require_mbarrier(w, mbarrier, l);
        memory::load_box(*box, place);
        complete_tx(*w.home->slot, u32(mbarrier), bytes);
      }
      continue;
    }
    Transfer t({&w, l});
    t.bytes = t.src_bytes = bytes;
    t.map = map;
    if (code.to_global()) {
      t.src = place;
      t.reduction = {code.op(), Element::U32};
      if (code.op() != ReduceOp::None && !element_of_map(box->map.type, code.op(), t.reduction.type))
        refuse(w, Outcome::IllegalInstruction, "bulk tensor reduction: elements of this type cannot be reduced", l);
      t.tensor = std::move(kept);
      t.group = w.bulk_groups[l];
      issue(*w.home->slot, std::move(t));
      continue;
    }
    require_mbarrier(w, mbarrier, l);
    t.tensor = std::move(kept);
    deliver_to_shared(w, l, t, shared, mbarrier, code.masked(), ctas);
  }
}

void rt_CpBulkCommit(WarpCtx* ctx, u32 mask, const u64*, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (w.listener) tell_committed(w, mask, true, w.bulk_groups);
  for (u32 l : Lanes(mask)) ++w.bulk_groups[l];
}

static void wait_for_groups(Warp& w, u32 mask, const CpBulkWaitArgs& a) {
  Slot& s = *w.home->slot;
  if (s.queue.empty()) return;
  u32 before[kWarpSize] = {};
  for (u32 l : Lanes(mask)) {
    const u32 left = u32(a.n[l]), groups = w.bulk_groups[l];
    before[l] = groups > left ? groups - left : 0;
  }
  finish_groups(s, w, mask, before, {.read_only = a.read[first_lane(mask)] != 0});
}

void rt_CpBulkWait(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<CpBulkWaitArgs>(args);
  wait_for_groups(w, mask, a);
  if (w.listener) tell_waited(w, mask, true, a.read[first_lane(mask)] != 0, a.n.lane);
}

// One element or a vector of them for the shared memory of a CTA of the cluster; there, an mbarrier learns of the
// bytes.
void rt_StoreAsync(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<StoreAsyncArgs>(args);
  for (u32 l : Lanes(mask)) {
    const BulkCode code(a.code[l]);
    const u64 dst = a.dst[l], mbarrier = a.mbarrier[l], element = a.size[l] & 0xff, count = a.size[l] >> 8;
    require_multiple(w, dst, u32(element * count), "the destination", l);
    shared_at(w, dst, element * count, l, "asynchronous store");
    require_mbarrier(w, mbarrier, l);
    Transfer t({&w, l});
    t.bytes = t.src_bytes = u32(element * count);
    t.snapshot.resize(t.bytes);
    for (u64 k = 0; k < count; ++k) std::memcpy(t.snapshot.data() + k * element, &a.v[k].lane[l], element);
    t.reduction = {code.op(), code.element()};
    deliver_to_shared(w, l, t, dst, mbarrier, false, 0);
  }
}

namespace {
// A map may begin as 128 zeros, as compilers do that have no other: one dimension of one byte.
void begin_from_zeros(memory::TensorMap& m) {
  static constexpr u8 zeros[sizeof m] = {};
  if (std::memcmp(&m, zeros, sizeof m) != 0) return;
  m.magic = memory::TensorMap::kMagic;
  m.rank = 1;
  std::ranges::fill(m.box, u16{1});
  std::ranges::fill(m.element_strides, u8{1});
}
}  // namespace

void rt_TensorMapReplace(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  using memory::TensorMap;
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<TensorMapReplaceArgs>(args);
  for (u32 l : Lanes(mask)) {
    const u64 value = a.value[l], k = a.dimension[l];
    require_generic(w, a.map[l], sizeof(TensorMap), l);
    TensorMap& m = *std::bit_cast<TensorMap*>(a.map[l]);
    begin_from_zeros(m);
    const auto field = static_cast<MapField>(a.field[l]);
    if (k >= 5)
      refuse(w, Outcome::IllegalInstruction, fmt::format("tensormap.replace: dimension {}; expected 0 to 4", k), l);
    static constexpr u8 types[] = {TensorMap::U8,     TensorMap::U16, TensorMap::U32,  TensorMap::S32,
                                   TensorMap::U64,    TensorMap::S64, TensorMap::F16,  TensorMap::F32,
                                   TensorMap::F32Ftz, TensorMap::F64, TensorMap::BF16, TensorMap::TF32,
                                   TensorMap::TF32Ftz};
    switch (field) {
      case MapField::Address:
        m.address = value;
        break;
      case MapField::Rank:
        m.rank = u8(value + 1);
        break;
      case MapField::ElementType:
        if (value >= std::size(types))
          refuse(w, Outcome::IllegalInstruction, fmt::format("tensormap.replace: element type {}", value), l);
        m.type = types[value];
        break;
      case MapField::Interleave:
        m.interleave = u8(value);
        break;
      case MapField::Swizzle:
        m.swizzle = u8(value);
        break;
      case MapField::Fill:
        m.nan_fill = u8(value);
        break;
      case MapField::BoxDim:
        m.box[k] = u16(value);
        break;
      case MapField::GlobalDim:
        m.last[k] = u32(value) - 1;
        break;
      case MapField::GlobalStride:
        if (k < 4) m.strides[k] = value;
        break;
      case MapField::ElementStride:
        m.element_strides[k] = u8(value);
        break;
    }
  }
}

}  // namespace us::device
