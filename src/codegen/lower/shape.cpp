// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/shape.h"

#include <algorithm>
#include <bit>

#include "codegen/integer.h"

namespace us::codegen {

static Shape top_shape(u32 bits) {
  Shape s;
  s.kind = Shape::Kind::Top;
  s.bits = bits;
  return s;
}
u64 mask_bits(u32 bits) { return bits >= 64 ? ~u64{0} : (u64{1} << bits) - 1; }

namespace {

u64 fold_bin(Bin op, u64 a, u64 b, u32 bits) { return integer::binary(op, a, b, bits) & mask_bits(bits); }

u8 zeros_of(u64 v, u32 bits) {
  return v ? static_cast<u8>(std::min<u32>(static_cast<u32>(std::countr_zero(v)), bits)) : 64;
}

template <class F>
Shape fold_lanes(u32 bits, F&& f) {
  std::array<u64, kWarpSize> lanes;
  for (u32 l = 0; l < kWarpSize; ++l) lanes[l] = f(l);
  return constant_vector(bits, lanes);
}

// Range and low zeros of the base of a scalar operation; conservative.
void bound_bin(Bin op, const Shape& a, const Shape& b, Shape& r) {
  const u64 m = mask_bits(r.bits);
  r.lo = 0;
  r.hi = m;
  auto mul_fits = [&](u64 x, u64 y) { return y == 0 || x <= m / y; };
  const u8 za = a.low_zeros, zb = b.low_zeros;
  switch (op) {
    case Bin::Add:
      r.low_zeros = std::min(za, zb);
      if (a.hi <= m - std::min(b.hi, m)) {
        r.lo = a.lo + b.lo;
        r.hi = a.hi + b.hi;
      }
      break;
    case Bin::Sub:
      r.low_zeros = std::min(za, zb);
      if (a.lo >= b.hi) {
        r.lo = a.lo - b.hi;
        r.hi = a.hi - b.lo;
      }
      break;
    case Bin::Mul:
      r.low_zeros = static_cast<u8>(std::min<u32>(64, u32{za} + zb));
      if (mul_fits(a.hi, b.hi)) {
        r.lo = a.lo * b.lo;
        r.hi = a.hi * b.hi;
      }
      break;
    case Bin::And:
      r.low_zeros = std::max(za, zb);
      r.hi = std::min(a.hi, b.hi);
      break;
    case Bin::Or:
    case Bin::Xor: {
      r.low_zeros = std::min(za, zb);
      const u64 top = a.hi | b.hi;
      r.hi = top ? mask_bits(static_cast<u32>(64 - std::countl_zero(top))) & m : 0;
      break;
    }
    case Bin::Shl:
      if (b.known && b.value < r.bits) {
        r.low_zeros = static_cast<u8>(std::min<u64>(64, za + b.value));
        if (a.hi <= (m >> b.value)) {
          r.lo = a.lo << b.value;
          r.hi = a.hi << b.value;
        }
      } else
        r.low_zeros = za;
      break;
    case Bin::LShr:
      if (b.known && b.value < r.bits) {
        r.low_zeros = za == 64 ? 64 : za > b.value ? static_cast<u8>(za - b.value) : 0;
        r.lo = a.lo >> b.value;
        r.hi = a.hi >> b.value;
      } else
        r.hi = a.hi;
      break;
    case Bin::AShr:
      if (b.known && b.value < r.bits && a.hi <= (m >> 1)) {
        r.low_zeros = za == 64 ? 64 : za > b.value ? static_cast<u8>(za - b.value) : 0;
        r.lo = a.lo >> b.value;
        r.hi = a.hi >> b.value;
      }
      break;
    case Bin::UDiv:
      if (b.lo > 0) {
        r.lo = a.lo / b.hi;
        r.hi = a.hi / b.lo;
      }
      break;
    case Bin::URem:
      if (b.lo > 0) r.hi = std::min(a.hi, b.hi - 1);
      break;
    case Bin::UMin:
      r.lo = std::min(a.lo, b.lo);
      r.hi = std::min(a.hi, b.hi);
      r.low_zeros = std::min(za, zb);
      break;
    case Bin::UMax:
      r.lo = std::max(a.lo, b.lo);
      r.hi = std::max(a.hi, b.hi);
      r.low_zeros = std::min(za, zb);
      break;
    default:
      break;
  }
}

Shape with_offsets(Shape r, const Offsets& offs) {
  const bool all_zero = std::all_of(offs.begin(), offs.end(), [](i64 o) { return o == 0; });
  if (all_zero) {
    if (r.lo == r.hi && !r.known) r = constant_shape(r.bits, r.lo);
    r.kind = Shape::Kind::Uniform;
    r.offsets.reset();
  } else {
    r.kind = Shape::Kind::Pattern;
    r.offsets = std::make_shared<Offsets>(offs);
  }
  return r;
}

template <class F>
Offsets map_offsets(const Shape& a, F&& f) {
  Offsets o;
  for (u32 l = 0; l < kWarpSize; ++l) o[l] = f(a.offset(l), l);
  return o;
}

bool offsets_small(const Offsets& o) {
  return std::all_of(o.begin(), o.end(), [](i64 x) { return x > -(i64{1} << 40) && x < (i64{1} << 40); });
}

// Offsets count modulo 2^bits; near zero, a base of `bits` bits that is sign extended reaches the right address.
Offsets near_zero(Offsets o, u32 bits) {
  const i64 half = bits < 64 ? i64{1} << (bits - 1) : 0;
  for (i64& x : o)
    if (half && (x >= half || x < -half)) x = integer::sign_extend(static_cast<u64>(x) & mask_bits(bits), bits);
  return o;
}

i64 combine_bits(Bin op, i64 x, i64 y) { return op == Bin::And ? x & y : op == Bin::Or ? x | y : x ^ y; }

// Both bases leave their low bits to the offsets of both: bases meet bases, and offsets meet offsets.
bool offsets_apart(const Shape& a, const Shape& b) {
  const u8 room = std::min(a.low_zeros, b.low_zeros);
  const i64 most = std::max(a.max_offset(), b.max_offset());
  return a.disjoint() && b.disjoint() && (room >= 63 || most < (i64{1} << room));
}

// a pattern (not constant), b anything but varying.
Shape pattern_bin(Bin op, const Shape& a, const Shape& b, bool swapped) {
  const u32 bits = a.bits;
  Shape r = uniform_shape(bits);
  switch (op) {
    case Bin::Add:
    case Bin::Sub: {
      const Shape& x = swapped ? b : a;
      const Shape& y = swapped ? a : b;
      bound_bin(op, x, y, r);
      const Offsets o =
          map_offsets(x, [&](i64 v, u32 l) { return op == Bin::Add ? v + y.offset(l) : v - y.offset(l); });
      return offsets_small(o) ? with_offsets(r, near_zero(o, bits)) : varying_shape(bits);
    }
    case Bin::Mul: {
      if (!(b.uniform() && b.known)) return varying_shape(bits);
      bound_bin(op, a, b, r);
      const i64 k = integer::sign_extend(b.value, bits);
      if (k > (i64{1} << 31) || k < -(i64{1} << 31)) return varying_shape(bits);
      const Offsets o = map_offsets(a, [&](i64 v, u32) { return v * k; });
      return offsets_small(o) ? with_offsets(r, near_zero(o, bits)) : varying_shape(bits);
    }
    case Bin::Shl: {
      if (swapped || !(b.uniform() && b.known) || b.value >= bits || b.value > 31) return varying_shape(bits);
      bound_bin(op, a, b, r);
      const Offsets o = map_offsets(a, [&](i64 v, u32) { return v * (i64{1} << b.value); });
      return offsets_small(o) ? with_offsets(r, near_zero(o, bits)) : varying_shape(bits);
    }
    case Bin::LShr: {
      if (swapped || !(b.uniform() && b.known) || b.value >= bits || !a.disjoint()) return varying_shape(bits);
      bound_bin(op, a, b, r);
      return with_offsets(r, map_offsets(a, [&](i64 v, u32) { return v >> b.value; }));
    }
    case Bin::AShr: {
      if (swapped || !(b.uniform() && b.known) || b.value >= bits || !a.disjoint() || a.low_zeros >= bits)
        return varying_shape(bits);
      bound_bin(op, a, b, r);
      return with_offsets(r, map_offsets(a, [&](i64 v, u32) { return v >> b.value; }));
    }
    case Bin::And:
    case Bin::Or:
    case Bin::Xor: {
      if (!(b.uniform() && b.known)) {
        if (!offsets_apart(a, b)) return varying_shape(bits);
        bound_bin(op, a, b, r);
        return with_offsets(r, map_offsets(a, [&](i64 v, u32 l) { return combine_bits(op, v, b.offset(l)); }));
      }
      if (!a.disjoint()) return varying_shape(bits);
      const u64 low = a.low_zeros >= 64 ? ~u64{0} : (u64{1} << a.low_zeros) - 1;
      Shape high = constant_shape(bits, b.value & ~low);
      bound_bin(op, a, high, r);
      r.low_zeros = op == Bin::And ? std::max(a.low_zeros, high.low_zeros) : std::min<u8>(a.low_zeros, high.low_zeros);
      const i64 c = static_cast<i64>(b.value & low);
      return with_offsets(r, map_offsets(a, [&](i64 v, u32) { return combine_bits(op, v, c); }));
    }
    default:
      return varying_shape(bits);
  }
}

}  // namespace

u64 Shape::lane_constant(u32 lane) const { return (value + static_cast<u64>(offset(lane))) & mask_bits(bits); }
i64 Shape::min_offset() const { return pattern() ? *std::min_element(offsets->begin(), offsets->end()) : 0; }
i64 Shape::max_offset() const { return pattern() ? *std::max_element(offsets->begin(), offsets->end()) : 0; }
bool Shape::disjoint() const {
  return min_offset() >= 0 && (low_zeros >= 63 || max_offset() < (i64{1} << low_zeros)) &&
         (bits >= 63 || max_offset() < (i64{1} << bits));
}

Shape uniform_shape(u32 bits) {
  Shape s;
  s.kind = Shape::Kind::Uniform;
  s.bits = bits;
  s.hi = mask_bits(bits);
  return s;
}
Shape constant_shape(u32 bits, u64 value) {
  Shape s = uniform_shape(bits);
  s.known = true;
  s.value = s.lo = s.hi = value & mask_bits(bits);
  s.low_zeros = zeros_of(s.value, bits);
  return s;
}
Shape varying_shape(u32 bits) {
  Shape s;
  s.kind = Shape::Kind::Varying;
  s.bits = bits;
  s.hi = mask_bits(bits);
  return s;
}
Shape pattern_shape(u32 bits, const Offsets& o, u8 low_zeros, u64 lo, u64 hi) {
  Shape s = uniform_shape(bits);
  s.low_zeros = low_zeros;
  s.lo = lo;
  s.hi = hi;
  return with_offsets(s, o);
}
Shape constant_vector(u32 bits, const std::array<u64, kWarpSize>& lanes) {
  if (std::all_of(lanes.begin(), lanes.end(), [&](u64 v) { return v == lanes[0]; }))
    return constant_shape(bits, lanes[0]);
  Offsets o;
  for (u32 l = 0; l < kWarpSize; ++l) o[l] = static_cast<i64>(lanes[l] & mask_bits(bits));
  Shape s = constant_shape(bits, 0);
  return with_offsets(s, o);
}

bool same_shape(const Shape& a, const Shape& b) {
  if (a.kind != b.kind || a.nan != b.nan || a.guarded != b.guarded || a.bits != b.bits || a.low_zeros != b.low_zeros ||
      a.known != b.known || a.value != b.value || a.lo != b.lo || a.hi != b.hi)
    return false;
  return !a.pattern() || a.offsets == b.offsets || *a.offsets == *b.offsets;
}

Shape meet(const Shape& a, const Shape& b) {
  if (a.kind == Shape::Kind::Top) return b;
  if (b.kind == Shape::Kind::Top) return a;
  Shape r = a;
  auto merge_nan = [](Shape::Nan x, Shape::Nan y) {
    if (x == y) return x;
    if (x == Shape::Nan::Never && y != Shape::Nan::Clean) return y;
    if (y == Shape::Nan::Never && x != Shape::Nan::Clean) return x;
    return Shape::Nan::Clean;  // the dirty side is canonicalised on its edge
  };
  r.nan = merge_nan(a.nan, b.nan);
  const bool same_offsets = a.guarded || b.guarded       ? false
                            : a.pattern() && b.pattern() ? *a.offsets == *b.offsets
                                                         : a.uniform() && b.uniform();
  if (!same_offsets) {
    r = varying_shape(a.bits);
    r.nan = merge_nan(a.nan, b.nan);
    return r;
  }
  r.known = a.known && b.known && a.value == b.value;
  r.value = r.known ? a.value : 0;
  r.low_zeros = std::min(a.low_zeros, b.low_zeros);
  // Bounds widen at once to keep the fixed point short.
  r.lo = a.lo == b.lo ? a.lo : 0;
  r.hi = a.hi == b.hi ? a.hi : mask_bits(a.bits);
  return r;
}

Shape shape_bin(Bin op, const Shape& a, const Shape& b) {
  const u32 bits = a.bits;
  if (a.kind == Shape::Kind::Top || b.kind == Shape::Kind::Top) return top_shape(bits);
  if (a.varying() || b.varying()) return varying_shape(bits);
  if (a.constant() && b.constant() && bits <= 64) {
    if (a.uniform() && b.uniform()) return constant_shape(bits, fold_bin(op, a.value, b.value, bits));
    return fold_lanes(bits, [&](u32 l) { return fold_bin(op, a.lane_constant(l), b.lane_constant(l), bits); });
  }
  if (a.uniform() && b.uniform()) {
    Shape r = uniform_shape(bits);
    bound_bin(op, a, b, r);
    return r.lo == r.hi ? constant_shape(bits, r.lo) : r;
  }
  if (bits > 64) return varying_shape(bits);
  if (a.guarded || b.guarded) {  // only what keeps being a pattern modulo 2^bits, with the vector computed beside it
    if (op != Bin::Add && op != Bin::Sub && op != Bin::Mul && op != Bin::Shl) return varying_shape(bits);
    Shape x = a, y = b;
    x.guarded = y.guarded = false;
    Shape r = shape_bin(op, x, y);
    if (!r.pattern()) return varying_shape(bits);
    r.guarded = true;
    return r;
  }
  const bool bitwise = op == Bin::And || op == Bin::Or || op == Bin::Xor;
  if (a.pattern() && b.pattern())
    return bitwise || op == Bin::Add || op == Bin::Sub ? pattern_bin(op, a, b, false) : varying_shape(bits);
  if (a.pattern()) return pattern_bin(op, a, b, false);
  return pattern_bin(op, b, a, true);
}

Shape shape_un(Un op, const Shape& a) {
  if (a.kind == Shape::Kind::Top) return a;
  if (a.varying() || a.bits > 64) return a.uniform() ? uniform_shape(a.bits) : varying_shape(a.bits);
  const u64 m = mask_bits(a.bits);
  if (a.guarded) return varying_shape(a.bits);
  if (op == Un::Neg) return shape_bin(Bin::Sub, constant_shape(a.bits, 0), a);
  if (a.constant() && op == Un::Not) return fold_lanes(a.bits, [&](u32 l) { return ~a.lane_constant(l) & m; });
  return a.uniform() ? uniform_shape(a.bits) : varying_shape(a.bits);
}

Shape shape_icmp(ICmp op, const Shape& a, const Shape& b) {
  if (a.kind == Shape::Kind::Top || b.kind == Shape::Kind::Top) return top_shape(1);
  if (a.varying() || b.varying()) return varying_shape(1);
  if (a.constant() && b.constant() && a.bits <= 64)
    return fold_lanes(1,
                      [&](u32 l) { return u64{integer::compare(op, a.lane_constant(l), b.lane_constant(l), a.bits)}; });
  if (a.uniform() && b.uniform()) return uniform_shape(1);
  if (bases_decide(op, a, b)) return uniform_shape(1);
  return varying_shape(1);
}

Shape shape_select(const Shape& c, const Shape& a, const Shape& b) {
  if (c.kind == Shape::Kind::Top || a.kind == Shape::Kind::Top || b.kind == Shape::Kind::Top) return top_shape(a.bits);
  if (c.constant() && a.constant() && b.constant() && a.bits <= 64)
    return fold_lanes(a.bits, [&](u32 l) { return c.lane_constant(l) & 1 ? a.lane_constant(l) : b.lane_constant(l); });
  if (c.uniform() && c.known) return c.value & 1 ? a : b;
  if (!c.uniform()) {
    Shape r = varying_shape(a.bits);
    r.nan = meet(a, b).nan;
    return r;
  }
  return meet(a, b);
}

Shape shape_resize(const Shape& a, u32 bits, bool sign, bool* needs_guard) {
  if (needs_guard) *needs_guard = false;
  if (a.kind == Shape::Kind::Top || bits == a.bits) {
    Shape r = a;
    r.bits = bits;
    return r;
  }
  if (a.varying() || (a.guarded && bits > 32)) return varying_shape(bits);
  if (a.bits > 64 || bits > 64) return a.uniform() ? uniform_shape(bits) : varying_shape(bits);
  if (a.constant())
    return fold_lanes(bits, [&](u32 l) {
      const u64 v = a.lane_constant(l);
      return (bits > a.bits && sign ? static_cast<u64>(integer::sign_extend(v, a.bits)) : v) & mask_bits(bits);
    });
  Shape r = uniform_shape(bits);
  r.low_zeros = std::min<u8>(a.low_zeros, static_cast<u8>(std::min(bits, a.bits)));
  const u64 top = mask_bits(std::min(bits, a.bits));
  const bool fits_sign = !sign || a.hi <= (top >> 1);
  if (bits < a.bits) {
    if (a.hi <= top) {
      r.lo = a.lo;
      r.hi = a.hi;
    }
  } else if (fits_sign) {
    r.lo = a.lo;
    r.hi = a.hi;
  }
  if (a.uniform()) return r;
  if (bits < a.bits) {  // truncation commutes with addition
    return with_offsets(r, *a.offsets);
  }
  if (a.bits < 32) return varying_shape(bits);
  // Extension: exact if no lane wraps. Offsets below the highest bit that stay clear of the base carry nothing.
  const u64 limit = sign ? top >> 1 : top;
  const bool proven = (a.min_offset() >= 0 && a.hi <= limit && static_cast<u64>(a.max_offset()) <= limit - a.hi) ||
                      (a.disjoint() && a.low_zeros < a.bits);
  if (!proven) {
    if (bits != 64) return varying_shape(bits);
    if (needs_guard) *needs_guard = true;
    r.guarded = true;
    r.lo = 0;
    r.hi = mask_bits(bits);
  }
  return with_offsets(r, *a.offsets);
}

Shape shape_lanewise(u32 bits, std::initializer_list<const Shape*> in) {
  bool uniform = true;
  for (const Shape* s : in) {
    if (s->kind == Shape::Kind::Top) return top_shape(bits);
    uniform = uniform && s->uniform();
  }
  return uniform ? uniform_shape(bits) : varying_shape(bits);
}

Shape shape_float(FT t, u32 bits, std::initializer_list<const Shape*> in) {
  Shape r = shape_lanewise(bits, in);
  r.nan = t == FT::F32 ? Shape::Nan::F32 : t == FT::F64 ? Shape::Nan::F64 : Shape::Nan::Clean;
  return r;
}

Shape::Nan nan_of_conversion(FT to, FT from) {
  return to == FT::F32 && from == FT::F16 ? Shape::Nan::F32 : Shape::Nan::Clean;
}

namespace {
// tid component `comp` of each lane of each warp; a pattern if all warps agree up to their first lane.
Shape shape_tid(u32 comp, const CodeFacts& facts) {
  if (!facts.block.x) return varying_shape(32);
  const u32 bx = facts.block.x, by = facts.block.y, threads = bx * by * facts.block.z;
  auto tid = [&](u32 t) {
    t = std::min(t, threads - 1);
    return comp == 0 ? t % bx : comp == 1 ? (t / bx) % by : t / (bx * by);
  };
  Offsets o;
  u32 zeros = 64, lo = ~0u, hi = 0;
  for (u32 w = 0; w < facts.warps(); ++w) {
    const u32 base = tid(w * kWarpSize);
    if (base) zeros = std::min(zeros, static_cast<u32>(std::countr_zero(base)));
    lo = std::min(lo, base);
    hi = std::max(hi, base);
    for (u32 l = 0; l < kWarpSize; ++l) {
      const u32 t = w * kWarpSize + l;
      if (t >= threads) break;  // lanes past the block do not exist
      const i64 d = i64{tid(t)} - i64{base};
      if (w == 0)
        o[l] = d;
      else if (o[l] != d)
        return varying_shape(32);
    }
    if (w == 0)
      for (u32 l = threads; l < kWarpSize; ++l) o[l] = o[threads - 1];
  }
  if (hi == 0) {
    std::array<u64, kWarpSize> lanes;
    for (u32 l = 0; l < kWarpSize; ++l) lanes[l] = static_cast<u64>(o[l]);
    return constant_vector(32, lanes);
  }
  return pattern_shape(32, o, static_cast<u8>(zeros), lo, hi);
}
}  // namespace

Shape of_first_lane(const Shape& s) {
  if (s.uniform() || s.kind == Shape::Kind::Top) return s;
  Shape r = s.constant() ? constant_shape(s.bits, s.lane_constant(0)) : uniform_shape(s.bits);
  r.nan = s.nan;
  return r;
}

Shape shape_lane_id(const CodeFacts& facts) {
  std::array<u64, kWarpSize> lanes;
  for (u32 l = 0; l < kWarpSize; ++l) lanes[l] = l;
  const Shape s = constant_vector(32, lanes);
  return facts.one_thread ? of_first_lane(s) : s;
}

Shape shape_thread_index(u32 k, const CodeFacts& facts) {
  const Shape s = shape_tid(k, facts);
  return facts.one_thread ? of_first_lane(s) : s;
}

Shape shape_context(device::ContextWord w, u32 k, const CodeFacts& facts) {
  using device::ContextWord;
  Shape s = uniform_shape(device::place_of(w, k).bits);
  const u32 dims[3] = {facts.block.x, facts.block.y, facts.block.z};
  if (w == ContextWord::Block && facts.block.x) return constant_shape(32, dims[k]);
  // Grids of 2^31 threads and more in x run the generic variant, so ctaid * ntid + tid does not wrap.
  if (w == ContextWord::Ctaid && k == 0 && facts.block.x) s.hi = (u64{1} << 31) / facts.block.x - 1;
  if (w == ContextWord::Grid && k == 0) s.hi = (u64{1} << 31) - 1;
  if ((w == ContextWord::Ctaid || w == ContextWord::Grid) && k > 0) s.hi = 65535;
  if (w == ContextWord::WarpId) s.hi = 31;
  return s;
}

}  // namespace us::codegen
