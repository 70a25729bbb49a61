// SPDX-License-Identifier: Apache-2.0
#include "memory/sample.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "memory/sample_rules.h"

namespace us::memory {
namespace {

constexpr i64 kOne = kTexel;         // in filter coordinates
constexpr i64 kFar = i64{1} << 40;   // beyond every texture
constexpr i64 kOutside = INT64_MIN;  // the border

// std::floor of what fits, without a call.
i64 whole(double v) {
  const i64 cut = static_cast<i64>(v);
  return cut - (static_cast<double>(cut) > v);
}

// x in texels * 256, or rounded down to whole texels. NaN is 0.
i64 fixed(const TextureObject& t, float x, u32 size, AddressMode mode, bool filter) {
  if (std::isnan(x)) return 0;
  if (!t.normalised_coords) {
    const double v = std::clamp(filter ? double{x} * kOne + 0.5 : double{x}, -double(kFar), double(kFar));
    return whole(v);
  }
  const bool repeats = mode == AddressMode::Wrap || mode == AddressMode::Mirror;
  if (std::fabs(x) >= 0x1p24f) {  // even whole numbers
    if (repeats) return 0;
    return x < 0 ? -kFar : kFar;
  }
  const u32 digits = digits_for(size);
  const i64 u = whole(double{x} * static_cast<double>(1u << digits)) * i64{size};
  return filter ? (u + (i64{1} << (digits - 9))) >> (digits - 8) : u >> digits;  // 256ths, to the nearest
}

i64 floor_mod(i64 a, i64 n) {
  if (a >= 0 && a < n) return a;
  const i64 rest = a % n;
  return rest < 0 ? rest + n : rest;
}

// Texel number i of n under an address mode; kOutside: the border.
i64 addressed(i64 i, i64 n, AddressMode mode) {
  switch (mode) {
    case AddressMode::Wrap:
      return floor_mod(i, n);
    case AddressMode::Mirror: {
      const i64 k = floor_mod(i, 2 * n);
      return k < n ? k : 2 * n - 1 - k;
    }
    case AddressMode::Border:
      return i < 0 || i >= n ? kOutside : i;
    case AddressMode::Clamp:
      break;
  }
  return std::clamp<i64>(i, 0, n - 1);
}

// One axis: the two texels around a place and the weight of the second, or one texel twice.
struct Axis {
  i64 first = 0, second = 0;
  u32 weight = 0;
};
Axis axis_at(const TextureObject& t, const TextureLevel& l, const TextureRead& r, u32 axis, bool filter,
             bool cut = true) {
  const u32 n = size_of(l, axis);
  const AddressMode mode = mode_of(t, axis);
  i64 q = fixed(t, r.at[axis], n, mode, filter);
  if (!filter) {
    const i64 i = addressed(q + r.offset[axis], n, mode);
    return {i, i, 0};
  }
  q += r.offset[axis] * kOne - kOne / 2;
  if (cut && mode == AddressMode::Clamp) q = std::clamp<i64>(q, 0, (i64{n} - 1) * kOne);
  return {addressed(q >> 8, n, mode), addressed((q >> 8) + 1, n, mode), static_cast<u32>(q & 255)};
}

const u8* texel_at(const TextureObject& t, const TextureLevel& l, i64 x, i64 y, i64 z) {
  if (x == kOutside || y == kOutside || z == kOutside) return nullptr;
  return reinterpret_cast<const u8*>(l.data) + static_cast<u64>(z) * l.slice + static_cast<u64>(y) * l.pitch +
         static_cast<u64>(x) * t.format.texel_bytes();
}

i64 layer_of(const TextureObject& t, const TextureLevel& l, u32 layer) {
  return std::min<i64>(layer, i64{layers_of(t, l)} - 1);
}

// `total` divided among four texels, index x + 2 y: by x first, then each part by y.
std::array<u32, 4> weights(u32 x, u32 y, u32 total) {
  const u32 far = part(x, total), near = total - far;
  const u32 far_far = part(far, y), near_near = part(near, 256 - y);
  return {near_near, far - far_far, near - near_near, far_far};
}

// The texels of one read, over planes and levels.
struct Taps {
  Taps() {}  // the list stays as it is
  union {
    Tap list[16];
  };
  u32 count = 0, planes = 0;
  void add(const u8* at, u32 weight) {
    if (weight) list[count++] = {at, weight, planes};
  }
};
void add_plane(Taps& taps, const TextureObject& t, const TextureLevel& l, const Axis& x, const Axis& y, i64 z,
               u32 total) {
  if (!total) return;
  const std::array<u32, 4> w = weights(x.weight, y.weight, total);
  for (u32 k = 0; k < 4; ++k) taps.add(texel_at(t, l, k & 1 ? x.second : x.first, k & 2 ? y.second : y.first, z), w[k]);
  ++taps.planes;
}

void note(const TextureRead& r, const u8* at) {
  if (r.touched && at) r.touched->push_back(at);
}
Texel point(const TextureObject& t, const TextureRead& r, const u8* at) {
  note(r, at);
  return at ? read_texel(t, at) : border_texel(t);
}

// Cubes -------------------------------------------------------------------------------------------------------------
// Faces are +x -x +y -y +z -z. The largest component picks; z before y before x where they are equal.
struct OnFace {
  u32 face;
  double s, t;  // 0 to 1
};
OnFace face_of(const float at[3]) {
  const double x = at[0], y = at[1], z = at[2], ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  const u32 axis = az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
  const double major = axis == 2 ? z : axis == 1 ? y : x;
  const bool minus = major < 0;
  const double s = axis == 0 ? (minus ? z : -z) : axis == 1 ? x : (minus ? -x : x);
  const double v = axis == 1 ? (minus ? -z : z) : -y;
  if (major == 0) return {4, 0.5, 0.5};
  return {2 * axis + u32{minus}, (s / std::fabs(major) + 1) / 2, (v / std::fabs(major) + 1) / 2};
}
// The texel that continues face `f` at (x, y), one of which is one beyond an edge: through the middle of the texel.
struct Place {
  u32 face;
  i64 x, y;
};
Place across_edge(u32 f, i64 x, i64 y, i64 n) {
  const double s = (2 * double(x) + 1) / double(n) - 1, v = (2 * double(y) + 1) / double(n) - 1;
  const double place[6][3] = {{1, -v, -s}, {-1, -v, s}, {s, 1, v}, {s, -1, -v}, {s, -v, 1}, {-s, -v, -1}};
  const double* p = place[f];
  // The neighbour's row along the shared edge is at its rim: step back onto the cube's surface.
  float d[3];
  const u32 major = f / 2;
  for (u32 k = 0; k < 3; ++k) d[k] = static_cast<float>(p[k]);
  for (u32 k = 0; k < 3; ++k)
    if (k != major && std::fabs(p[k]) > 1) {
      d[major] = static_cast<float>(p[major] * (2 - std::fabs(p[k])));
      d[k] = static_cast<float>(std::copysign(1.0, p[k]));
    }
  const OnFace o = face_of(d);
  const auto cell = [&](double c) { return std::clamp<i64>(static_cast<i64>(std::floor(c * double(n))), 0, n - 1); };
  return {o.face, cell(o.s), cell(o.t)};
}

// Three faces meet at a corner: the fourth texel does not exist, and the others take a third of its weight each.
void share_corner(std::array<u32, 4>& w, u32 missing, u32 beyond_x, u32 beyond_y, u32 total) {
  const u32 third = part((2 * beyond_x * beyond_y + 768) / 1536, total), inside = missing ^ 3;
  w[missing ^ 1] += third, w[missing ^ 2] += third;
  w[missing] = 0;
  w[inside] = total - w[missing ^ 1] - w[missing ^ 2];
}

void add_cube(Taps& taps, const TextureObject& t, const TextureLevel& l, const TextureRead& r, bool filter, u32 total) {
  const OnFace o = face_of(r.at);
  const i64 n = l.width, first_slice = t.layered() ? layer_of(t, l, r.layer) * 6 : 0;
  const i64 u = static_cast<i64>(std::floor(o.s * 0x1p21)) * n, v = static_cast<i64>(std::floor(o.t * 0x1p21)) * n;
  if (!filter) {
    const i64 x = std::clamp<i64>(u >> 21, 0, n - 1), y = std::clamp<i64>(v >> 21, 0, n - 1);
    return taps.add(texel_at(t, l, x, y, first_slice + o.face), total);
  }
  const auto eighths = [](i64 c) { return ((c * kOne + (i64{1} << 20)) >> 21) - kOne / 2; };
  const i64 qx = eighths(u), qy = eighths(v);
  const u32 fx = static_cast<u32>(qx & 255), fy = static_cast<u32>(qy & 255);
  std::array<u32, 4> w = weights(fx, fy, total);
  const bool left = qx < 0, right = qx >= (n - 1) * kOne, top = qy < 0, bottom = qy >= (n - 1) * kOne;
  if (t.seamless_cube && (left || right) && (top || bottom))
    share_corner(w, (right ? 1u : 0u) + (bottom ? 2u : 0u), left ? 256 - fx : fx, top ? 256 - fy : fy, total);
  for (u32 k = 0; k < 4; ++k) {
    const i64 x = (qx >> 8) + (k & 1), y = (qy >> 8) + (k >> 1);
    const bool beyond_x = x < 0 || x >= n, beyond_y = y < 0 || y >= n;
    Place p{o.face, std::clamp<i64>(x, 0, n - 1), std::clamp<i64>(y, 0, n - 1)};
    if (t.seamless_cube && beyond_x != beyond_y) p = across_edge(o.face, x, y, n);
    taps.add(texel_at(t, l, p.x, p.y, first_slice + p.face), w[k]);
  }
  ++taps.planes;
}

// Levels ------------------------------------------------------------------------------------------------------------
void add_level(Taps& taps, const TextureObject& t, const TextureRead& r, u32 level, u32 total) {
  const TextureLevel& l = t.level[level];
  const bool filter = filters(t);
  if (t.cube()) return add_cube(taps, t, l, r, filter, total);
  const Axis x = axis_at(t, l, r, 0, filter), y = axis_at(t, l, r, 1, filter);
  Axis z;
  if (t.shape == TextureShape::D3)
    z = axis_at(t, l, r, 2, filter);
  else if (t.layered())
    z.first = z.second = layer_of(t, l, r.layer);
  if (!filter) return taps.add(texel_at(t, l, x.first, y.first, z.first), total);
  const u32 near = part(256 - z.weight, total);
  add_plane(taps, t, l, x, y, z.first, near);
  add_plane(taps, t, l, x, y, z.second, total - near);
}
Texel result(const TextureObject& t, const TextureRead& r, const Taps& taps) {
  if (taps.count == 1 && taps.planes == 0) return point(t, r, taps.list[0].at);
  for (u32 k = 0; k < taps.count; ++k) note(r, taps.list[k].at);
  return filter_taps(t, {taps.list, taps.count});
}
Texel sample_level(const TextureObject& t, const TextureRead& r, u32 level) {
  if (t.shape == TextureShape::D2 && !filters(t)) {  // the most frequent case
    const TextureLevel& l = t.level[level];
    return point(t, r, texel_at(t, l, axis_at(t, l, r, 0, false).first, axis_at(t, l, r, 1, false).first, 0));
  }
  Taps taps;
  add_level(taps, t, r, level, 256);
  return result(t, r, taps);
}

i64 level_in_256ths(float lod) {
  return std::isnan(lod) ? 0 : static_cast<i64>(std::clamp(double{lod} * kOne, -1e6, 1e6));
}

Texel fetch(const TextureObject& t, const TextureRead& r) {
  if (r.texel_level < 0 || r.texel_level >= static_cast<i32>(t.level_count)) return Texel{};
  const TextureLevel& l = t.level[static_cast<u32>(r.texel_level)];
  i64 at[3] = {r.texel[0] + i64{r.offset[0]}, r.texel[1] + i64{r.offset[1]}, r.texel[2] + i64{r.offset[2]}};
  if (t.layered()) at[2] = layer_of(t, l, r.layer);
  // Recorded: with a level (on an object that wraps) the nearest texel, without one (on objects that do not) zero.
  // Which of the two differences decides is not known.
  for (u32 k = 0; r.level && k < 3; ++k) at[k] = std::clamp<i64>(at[k], 0, i64{size_of(l, k)} - 1);
  for (u32 k = 0; k < 3; ++k)
    if (at[k] < 0 || at[k] >= size_of(l, k)) return Texel{};
  return point(t, r, texel_at(t, l, at[0], at[1], at[2]));
}

}  // namespace

Texel sample(const TextureObject& t, const TextureRead& r) {
  if (r.integer) return fetch(t, r);
  if (t.level_count == 1) return sample_level(t, r, 0);
  const i64 low = level_in_256ths(t.min_level), high = level_in_256ths(t.max_level);
  i64 lod = level_in_256ths(r.level ? r.lod : 0) + level_in_256ths(t.level_bias);
  lod = std::clamp<i64>(std::min(std::max(lod, low), std::max(low, high)), 0, i64{t.level_count - 1} * kOne);
  if (t.mip_filter == FilterMode::Point) return sample_level(t, r, static_cast<u32>((lod + kOne / 2) >> 8));
  const u32 level = static_cast<u32>(lod >> 8), fraction = static_cast<u32>(lod & 255);
  Taps taps;
  add_level(taps, t, r, level, 256 - fraction);
  if (fraction) add_level(taps, t, r, level + 1, fraction);
  ++taps.planes;  // one texel goes through the filter's arithmetic, too
  return result(t, r, taps);
}

Texel gather(const TextureObject& t, const TextureRead& r, u32 component) {
  const TextureLevel& l = t.level[0];
  const Axis x = axis_at(t, l, r, 0, true, false), y = axis_at(t, l, r, 1, true, false);
  const i64 z = t.layered() ? layer_of(t, l, r.layer) : 0;
  const i64 xs[4] = {x.first, x.second, x.second, x.first}, ys[4] = {y.second, y.second, y.first, y.first};
  Texel out;
  for (u32 k = 0; k < 4; ++k) out.c[k] = point(t, r, texel_at(t, l, xs[k], ys[k], z)).c[component];
  return out;
}

float level_of_gradients(const TextureObject& t, const float dx[3], const float dy[3]) {
  const TextureLevel& l = t.level[0];
  const u32 axes = t.cube() || t.shape == TextureShape::D3 ? 3 : t.shape == TextureShape::D1 ? 1 : 2;
  // The longer of the two, in texels; its length is approximated as hardware does.
  const auto length = [&](const float* d) {
    double large = 0, small = 0;
    for (u32 k = 0; k < axes; ++k) {
      const double scale = t.cube() ? l.width / 2.0 : t.normalised_coords ? double(size_of(l, k)) : 1.0;
      const double v = std::fabs(double{d[k]} * scale);
      small = std::max(small, std::min(v, large)), large = std::max(large, v);
    }
    return large + 0.34375 * small;
  };
  return static_cast<float>(std::log2(std::max({length(dx), length(dy), 1e-30})));
}

}  // namespace us::memory
