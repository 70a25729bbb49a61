// SPDX-License-Identifier: Apache-2.0
// suld, sust, sured: unfiltered access to surface objects.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "device/abi/texture_code.h"
#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "memory/texel.h"
#include "numerics/atomic.h"

namespace us::device {
namespace {

using memory::TexelType;
using memory::TextureObject;

const TextureObject& surface(Warp& w, u64 handle, u32 lane) {
  const TextureObject* t = image_of(w, handle, TextureObject::kSurface);
  if (!t) die(w, Outcome::IllegalAddress, fmt::format("{:#x} is no surface object", handle), 1u << lane);
  return *t;
}

// Where an access of `bytes` goes; null: nowhere (.zero).
u8* place(Warp& w, const TextureObject& s, const SurfaceCode& code, const PerLane (&at)[3], u32 lane, u32 bytes) {
  const memory::TextureLevel& l = s.level[0];
  const bool layered = code.geometry == Geometry::A1 || code.geometry == Geometry::A2;
  i64 c[3] = {i32(at[0][lane]), i32(at[1][lane]), i32(at[2][lane])};
  if (layered) {  // the layer is first
    const i64 layer = c[0];
    c[0] = c[1], c[1] = code.geometry == Geometry::A2 ? c[2] : 0, c[2] = layer;
  } else {
    if (code.geometry == Geometry::D1) c[1] = 0;
    if (code.geometry != Geometry::D3) c[2] = 0;
  }
  const i64 texel = s.format.texel_bytes(), unit = code.formatted ? 1 : bytes;
  const i64 size[3] = {code.formatted ? i64{l.width} : i64{l.width} * texel, l.height, l.depth};
  for (u32 k = 0; k < 3; ++k) {
    const i64 step = k == 0 ? unit : 1;
    if (c[k] >= 0 && c[k] + step <= size[k]) continue;
    if (code.bounds == Bounds::Zero) return nullptr;
    if (code.bounds == Bounds::Trap)
      die(w, Outcome::IllegalAddress,
          fmt::format("surface access at ({}, {}, {}) outside {} x {} x {}{}", c[0], c[1], c[2], size[0], size[1],
                      size[2], code.formatted ? "" : " (x in bytes)"),
          1u << lane);
    c[k] = std::clamp<i64>(c[k], 0, size[k] - step);
  }
  if (!code.formatted && c[0] % unit)
    die(w, Outcome::MisalignedAddress, fmt::format("surface access at byte {} of a row, of {} bytes", c[0], bytes),
        1u << lane);
  const u64 x = u64(c[0]) * (code.formatted ? u64(texel) : 1);
  return reinterpret_cast<u8*>(l.data) + u64(c[2]) * l.slice + u64(c[1]) * l.pitch + x;
}

template <class T>
u32 clamped(double v, double low, double high) {
  if (std::isnan(v)) return 0;
  return u32(T(std::nearbyint(std::clamp(v, low, high))));
}
// A 32-bit value as one channel of a format: integers are cut to its range.
u32 to_channel(TexelType t, u32 v) {
  const float f = std::bit_cast<float>(v);
  switch (t) {
    case TexelType::U8:
      return std::min(v, 255u);
    case TexelType::U16:
      return std::min(v, 65535u);
    case TexelType::S8:
      return u32(std::clamp(i32(v), -128, 127));
    case TexelType::S16:
      return u32(std::clamp(i32(v), -32768, 32767));
    case TexelType::F16:
      if (std::isnan(f)) return (v >> 16 & 0x8000) | 0x7c00 | (v >> 13 & 0x3ff);
      return u32(numerics::narrow(double(f), 0, numerics::kF16, numerics::Round::Zero));
    case TexelType::Unorm8:
      return clamped<u32>(double(f) * 255, 0, 255);
    case TexelType::Unorm16:
      return clamped<u32>(double(f) * 65535, 0, 65535);
    case TexelType::Snorm8:
      return clamped<i32>(double(f) * 127, -127, 127);
    case TexelType::Snorm16:
      return clamped<i32>(double(f) * 32767, -32767, 32767);
    default:
      return v;
  }
}

template <class T>
void reduce(u8* at, SurfaceOp op, bool sign, u64 value) {
  using numerics::AtomicOp, numerics::AtomicType;
  static constexpr AtomicOp ops[] = {AtomicOp::Add, AtomicOp::Min, AtomicOp::Max, AtomicOp::And, AtomicOp::Or};
  numerics::ScalarArithmetic<T> arithmetic;
  if (sign) arithmetic.type.number = AtomicType::Number::Signed;
  std::atomic_ref<T> cell(*reinterpret_cast<T*>(at));
  T old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, numerics::updated(arithmetic, ops[u32(op)], old, T(value), T{}))) {
  }
}

void tell_surface(Warp& w, u32 lane, probe::Image::Kind kind, u64 handle, const u8* at, u32 bytes) {
  const probe::Range range = range_at(*w.home->slot, at, bytes);
  tell_image(w, lane, kind, handle, {&range, at ? 1u : 0u});
}

}  // namespace

void rt_SurfaceLoad(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<SurfaceLoadArgs>(args);
  for (u32 l : Lanes(mask)) {
    const SurfaceCode code = SurfaceCode::unpack(a.code[l]);
    const u8* p = place(w, surface(w, a.handle[l], l), code, a.c, l, u32(code.bytes) * code.count);
    if (w.listener) tell_surface(w, l, probe::Image::Kind::Read, a.handle[l], p, u32(code.bytes) * code.count);
    for (u32 k = 0; k < code.count; ++k) {
      u64 v = 0;
      if (p) std::memcpy(&v, p + k * code.bytes, code.bytes);
      results[k * 32 + l] = v;
    }
  }
}

void rt_SurfaceStore(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<SurfaceStoreArgs>(args);
  for (u32 l : Lanes(mask)) {
    const SurfaceCode code = SurfaceCode::unpack(a.code[l]);
    const TextureObject& s = surface(w, a.handle[l], l);
    u8* p = place(w, s, code, a.c, l, u32(code.bytes) * code.count);
    const u32 count = code.formatted ? std::min<u32>(code.count, s.format.channels) : code.count;
    const u32 bytes = code.formatted ? s.format.channel_bytes() : code.bytes;
    if (w.listener) tell_surface(w, l, probe::Image::Kind::Write, a.handle[l], p, count * bytes);
    if (!p) continue;
    for (u32 k = 0; k < count; ++k) {
      u64 v = a.v[k][l];
      if (code.formatted) v = to_channel(s.format.type, u32(v));
      std::memcpy(p + k * bytes, &v, bytes);
    }
  }
}

void rt_SurfaceReduce(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<SurfaceReduceArgs>(args);
  for (u32 l : Lanes(mask)) {
    const SurfaceCode code = SurfaceCode::unpack(a.code[l]);
    const TextureObject& s = surface(w, a.handle[l], l);
    u8* p = place(w, s, code, a.c, l, code.bytes);
    if (w.listener) tell_surface(w, l, probe::Image::Kind::Reduce, a.handle[l], p, code.bytes);
    if (!p) continue;
    const u64 v = a.value[l];
    const bool sign = code.formatted ? s.format.type == TexelType::S32 : code.is_signed;
    if (code.bytes == 8)
      reduce<u64>(p, code.op, sign, v);
    else
      reduce<u32>(p, code.op, sign, v);
  }
}

}  // namespace us::device
