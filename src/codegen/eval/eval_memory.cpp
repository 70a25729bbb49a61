// SPDX-License-Identifier: Apache-2.0
// Memory. Addresses within shared windows and local memory are offsets; constant addresses are offsets from the
// constant bank; parameter, global and generic addresses are host addresses.
#include <emmintrin.h>

#include <atomic>
#include <bit>
#include <cstring>

#include "codegen/eval/eval_builder.h"
#include "codegen/semantics/atomic.h"
#include "device/abi/bad_access.h"

namespace us::codegen::eval {

using isa::Space;
using isa::Type;

static bool is_shared(Space s) { return s == Space::Shared || s == Space::SharedCluster; }

u8* EvalBuilder::parameter(ir::SymId id, u32 lane) {
  std::vector<u8>& p = lanes_[lane].top().params[id.v];
  const u64 size = std::max<u64>(module_.symbols[id.v].size, 16);
  if (p.size() < size) p.resize(size);
  return p.data();
}
u8* EvalBuilder::host_address(const MemRef& m, u32 lane, u64 bytes_before) {
  const u64 a = (m.addr ? get(m.addr, lane) : 0) + static_cast<u64>(m.offset) + bytes_before;
  switch (m.space) {
    case Space::Shared:
    case Space::SharedCluster:
      return warp_.window + static_cast<u32>(a);
    case Space::Local:
      return warp_.local + lane * warp_.local_stride + a;
    case Space::Const:
      return warp_.grid->const_bank + a;
    case Space::Param:
      if (m.param_of_function) return parameter(m.param, lane) + a;
      return const_cast<u8*>(warp_.grid->params) + a;
    default:
      return std::bit_cast<u8*>(a);
  }
}

void EvalBuilder::require_access(const MemRef& m) {
  using device::BadAccess;
  const bool apart = m.space == Space::Param || m.space == Space::Const;
  if (apart && (!m.addr || m.param_of_function)) return;
  const u64 bytes = u64{m.bits} / 8 * m.count;
  const u64 align = apart || m.space == Space::Local ? 1 : std::max(m.align, 1u);
  const auto bounds = is_shared(m.space)        ? BadAccess::Shared
                      : m.space == Space::Local ? BadAccess::Local
                      : m.space == Space::Param ? BadAccess::Param
                                                : BadAccess::Global;
  u64 rows[2][32] = {}, misaligned = 0, outside = 0;
  each_active([&](u32 l) {
    u64& a = rows[0][l] = (m.addr ? get(m.addr, l) : 0) + static_cast<u64>(m.offset);
    rows[1][l] = bytes;
    if (is_shared(m.space)) a = static_cast<u32>(a);
    misaligned |= a & (align - 1);
    outside |= m.space != Space::Const && m.space != Space::Generic && refused(warp_, bounds, a, bytes);
  });
  const auto rule = misaligned ? BadAccess::Misaligned : bounds;
  const struct {
    u64 count = 1;
    BadAccess access;
  } table{1, {0, misaligned ? align : bytes, 0, BadAccess::Rows, rule}};
  const u64 args[] = {std::bit_cast<u64>(&table), std::bit_cast<u64>(&rows[0][0])};
  auto call = [&](device::RtFn fn, const u64* a) { warp_.rt[static_cast<std::size_t>(fn)](&warp_, exec_, a, nullptr); };
  if (misaligned || outside) call(device::RtFn::BadAccess, args);
  if (m.space == Space::Generic) call(device::RtFn::CheckGeneric, rows[0]);
}

// One access where the bytes are a word of the host: others see all of a strong vector or nothing of it.
static void move_whole(void* to, const void* from, u64 bytes) {
  const bool aligned = ((std::bit_cast<u64>(to) | std::bit_cast<u64>(from)) & (bytes - 1)) == 0;
  auto move = [&]<class T>(T) { *static_cast<volatile T*>(to) = *static_cast<const volatile T*>(from); };
  if (bytes == 16 && aligned)
    move(__m128i{});
  else if (bytes == 8 && aligned)
    move(u64{});
  else
    std::memcpy(to, from, bytes);
}

void EvalBuilder::load(const MemRef& m, std::span<V> out) {
  require_access(m);
  const u32 bytes = m.bits / 8;
  alignas(16) u8 data[kWarpSize][32];
  each_active([&](u32 l) { move_whole(data[l], host_address(m, l, 0), u64{bytes} * m.count); });
  for (u32 k = 0; k < m.count; ++k) {
    Value& r = make(m.bits, out[k]);
    each_active([&](u32 l) {
      const u8* from = data[l] + u64{k} * bytes;
      std::memcpy(&r.lo[l], from, std::min(bytes, 8u));
      if (bytes > 8) std::memcpy(&r.hi[l], from + 8, 8);
    });
  }
  if (m.order != Order::Weak) std::atomic_thread_fence(std::memory_order_seq_cst);
}
void EvalBuilder::store(const MemRef& m, std::span<const V> in) {
  require_access(m);
  const u32 bytes = m.bits / 8;
  if (m.order != Order::Weak) std::atomic_thread_fence(std::memory_order_seq_cst);
  each_active([&](u32 l) {
    alignas(16) u8 data[32];
    for (u32 k = 0; k < m.count; ++k) {
      u8* to = data + u64{k} * bytes;
      const Value& v = value(in[k]);
      std::memcpy(to, &v.lo[l], std::min(bytes, 8u));
      if (bytes > 8) std::memcpy(to + 8, &v.hi[l], 8);
    }
    move_whole(host_address(m, l, 0), data, u64{bytes} * m.count);
  });
  if (m.order != Order::Weak) std::atomic_thread_fence(std::memory_order_seq_cst);
}
void EvalBuilder::fence(Order, Scope) { std::atomic_thread_fence(std::memory_order_seq_cst); }

namespace {

using u128 = unsigned __int128;

template <class T>
T update(u8* at, AtomOp op, Type t, u128 b, u128 c, bool shared) {
  const numerics::ScalarArithmetic<T> a{atomic_type(t, shared)};
  T* p = reinterpret_cast<T*>(at);
  T old = __atomic_load_n(p, __ATOMIC_SEQ_CST), next;
  do next = numerics::updated(a, op, old, static_cast<T>(b), static_cast<T>(c));
  while (!__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return old;
}
[[gnu::target("cx16")]] u128 update128(u8* at, AtomOp op, Type t, u128 b, u128 c) {
  const numerics::ScalarArithmetic<u128> a{atomic_type(t, false)};
  auto* p = reinterpret_cast<u128*>(at);
  u128 old = 0;
  for (;;) {
    const u128 seen = __sync_val_compare_and_swap(p, old, numerics::updated(a, op, old, b, c));
    if (seen == old) return old;
    old = seen;
  }
}

}  // namespace

V EvalBuilder::atomic(AtomOp op, Type t, const MemRef& m, V b, V c, bool) {
  require_access(m);
  V out;
  Value& r = make(m.bits, out);
  auto wide = [&](V v, u32 l) { return v ? u128(m.bits > 64 ? value(v).hi[l] : 0) << 64 | value(v).lo[l] : u128(0); };
  each_active([&](u32 l) {
    u8* at = host_address(m, l, 0);
    const bool shared = at >= warp_.window && at < warp_.window + 16 * device::kCtaSharedStride;
    const u128 x = wide(b, l), y = wide(c, l);
    u128 old;
    switch (m.bits) {
      case 16:
        old = update<u16>(at, op, t, x, y, shared);
        break;
      case 32:
        old = update<u32>(at, op, t, x, y, shared);
        break;
      case 64:
        old = update<u64>(at, op, t, x, y, shared);
        break;
      default:
        old = update128(at, op, t, x, y);
    }
    r.lo[l] = static_cast<u64>(old);
    if (m.bits > 64) r.hi[l] = static_cast<u64>(old >> 64);
  });
  return out;
}

V EvalBuilder::symbol_address(ir::SymId id, i64 offset) {
  const ir::Symbol& s = module_.symbols[id.v];
  const u64 add = static_cast<u64>(offset);
  const u64 host = warp_.grid->symbols ? warp_.grid->symbols[id.v] : 0;
  switch (s.kind == ir::Symbol::Kind::Variable ? s.space : Space::Global) {
    case Space::Shared:
    case Space::SharedCluster:
      return imm(64, warp_.shared_base + s.offset + add);
    case Space::Const:
      return imm(64, host - std::bit_cast<u64>(warp_.grid->const_bank) + add);
    case Space::Local:
      return per_lane(64, [&](u32 l) { return exec_ >> l & 1 ? lanes_[l].top().local_base + s.offset + add : 0; });
    case Space::Param: {
      const ir::Function& f = module_.functions[s.func.v];
      for (const ir::Param& p : f.params)
        if (f.entry && p.sym == id) return imm(64, p.offset + add);
      const u64 params = std::bit_cast<u64>(warp_.grid->params);
      return per_lane(64,
                      [&](u32 l) { return exec_ >> l & 1 ? std::bit_cast<u64>(parameter(id, l)) - params + add : 0; });
    }
    default:
      return imm(64, host + add);
  }
}

namespace {
struct Window {
  u64 base, bytes;
};
}  // namespace
static Window window_of(const device::WarpCtx& w, Space s, u32 lane) {
  const u64 shared = std::bit_cast<u64>(w.window);
  switch (s) {
    case Space::Shared:
      return {shared + w.shared_base, device::kCtaSharedStride};
    case Space::SharedCluster: {
      const device::Dim3& n = w.grid->cluster;
      return {shared, u64(n.x) * n.y * n.z * device::kCtaSharedStride};
    }
    case Space::Local:
      return {std::bit_cast<u64>(w.local) + lane * w.local_stride, w.local_stride};
    case Space::Const:
      return {std::bit_cast<u64>(w.grid->const_bank), w.grid->const_bank ? 64 * 1024u : 0};
    default:
      return {std::bit_cast<u64>(w.grid->params), device::kParamBytes};
  }
}
static u64 origin(const device::WarpCtx& w, Space s, u32 lane) {  // generic address of offset 0
  if (s == Space::Global || s == Space::Generic) return 0;
  return window_of(w, s == Space::Shared ? Space::SharedCluster : s, lane).base;
}
V EvalBuilder::to_generic(Space s, V a) {
  return per_lane(64, [&](u32 l) { return get(a, l) + origin(warp_, s, l); });
}
V EvalBuilder::from_generic(Space s, V a) {
  return per_lane(64, [&](u32 l) { return get(a, l) - origin(warp_, s, l); });
}
V EvalBuilder::in_space(Space s, V a) {
  auto inside = [&](Space w, u32 l) {
    const auto [base, bytes] = window_of(warp_, w, l);
    return get(a, l) - base < bytes;
  };
  return per_lane(1, [&](u32 l) -> u64 {
    if (s != Space::Global) return inside(s, l);
    return !inside(Space::SharedCluster, l) && !inside(Space::Local, l) && !inside(Space::Const, l);
  });
}

void EvalBuilder::count(u32 site, probe::Counter c, u32 each) {
  if (!warp_.counts || !exec_ || site == ir::kNoSite) return;
  probe::Count& n = warp_.counts[site];
  const u64 all = u64{each} * static_cast<u64>(std::popcount(exec_));
  if (c == probe::Counter::Lanes) ++n.warps;
  (c == probe::Counter::Lanes ? n.lanes : c == probe::Counter::Read ? n.read : n.written) += all;
}

void EvalBuilder::record(u32 site, probe::RecordCode code, V at) {
  if (!warp_.records || !exec_) return;
  probe::Record r;
  r.site = site, r.lanes = exec_;
  r.cta = static_cast<u32>(warp_.record), r.warp = warp_.warp_id;
  r.code = code;
  u64 each[probe::kLanes];
  if (code.kind != probe::RecordCode::Kind::Block) {
    // As compiled code has it: the address of a constant, here its offset in the bank.
    const u64 begin = code.space == probe::Space::Const ? std::bit_cast<u64>(warp_.grid->const_bank) : 0;
    for (u32 l = 0; l < probe::kLanes; ++l) each[l] = begin + get(at, l);
    r.code.addresses = probe::RecordCode::Addresses::Each;
    r.each = each;
  }
  probe::write_record(*warp_.records, r);
}

void EvalBuilder::record_lanes(u32 site, probe::Detour d, V lanes) {
  const u32 mask = static_cast<u32>(get(ballot(lanes), 0)) & exec_;
  if (!warp_.records || !mask) return;
  probe::Record r;
  r.site = site, r.lanes = mask;
  r.cta = static_cast<u32>(warp_.record), r.warp = warp_.warp_id;
  r.code = {.bytes = static_cast<u32>(d)};
  probe::write_record(*warp_.records, r);
}

}  // namespace us::codegen::eval
