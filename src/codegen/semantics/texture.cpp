// SPDX-License-Identifier: Apache-2.0
// PTX ISA "Texture Instructions" and "Surface Instructions" on texture and surface objects (handles in registers).
#include "codegen/semantics/memory.h"
#include "device/abi/texture_code.h"

namespace us::codegen {
namespace {

using device::Bounds;
using device::Geometry;
using device::RtFn;
using device::SurfaceCode;
using device::SurfaceOp;
using device::TextureCode;
using device::TextureQuery;

Geometry geometry_of(const Sem& s) {
  if (s.has(Tok::dim_1d)) return Geometry::D1;
  if (s.has(Tok::dim_2d)) return Geometry::D2;
  if (s.has(Tok::dim_3d)) return Geometry::D3;
  if (s.has(Tok::a1d)) return Geometry::A1;
  if (s.has(Tok::a2d)) return Geometry::A2;
  return s.has(Tok::cube) ? Geometry::Cube : Geometry::ACube;
}
// Element e of an operand that may be a vector, a register or absent.
V part(const Sem& s, u32 k, u32 e, Type as = Type::b32) {
  const ir::Operand& o = s.i.ops[k];
  if (o.kind == ir::Operand::Kind::Vector) {
    const bool there = e < o.elems.size() && o.elems[e].kind != ir::Operand::Kind::Sink;
    return there ? s.b.read(o.elems[e], as) : s.b.imm(isa::bits_of(as), 0);
  }
  return e == 0 && o.kind != ir::Operand::Kind::None ? s.b.read(o, as) : s.b.imm(isa::bits_of(as), 0);
}

// The four channels as the destination's type: f16 ones are narrowed.
void write_channels(const Sem& s, V (&r)[4]) {
  Builder& b = s.b;
  const Type t = s.i.type(0);
  const ir::Operand& d = s.i.ops[0];
  auto half = [&](V v) { return b.fcvt(FT::F16, FT::F32, v); };
  auto write = [&](u32 k, V v) {
    if (d.kind == ir::Operand::Kind::Vector) {
      if (k < d.elems.size()) b.write(d.elems[k], v);
    } else if (k == 0) {
      b.write(d, v);
    }
  };
  if (t == Type::f16x2) {
    write(0, pair(b, half(r[0]), half(r[1])));
    write(1, pair(b, half(r[2]), half(r[3])));
  } else {
    for (u32 k = 0; k < 4; ++k) write(k, t == Type::f16 ? half(r[k]) : r[k]);
  }
  if (s.has_operand(1)) s.out(1, b.imm(1, 1), Type::pred);  // every texel is resident
}

// Operands: d, p, texture, sampler, coordinates, ... offsets at `offsets`.
void texture(const Sem& s, TextureCode code, V lod, u32 offsets) {
  V r[4];
  s.b.call_rt(RtFn::Texture,
              {address(s, 2), imm32(s.b, code.pack()), part(s, 4, 0), part(s, 4, 1), part(s, 4, 2), part(s, 4, 3), lod,
               part(s, offsets, 0), part(s, offsets, 1), part(s, offsets, 2)},
              {32, 32, 32, 32}, r, true);
  write_channels(s, r);
}
TextureCode code_of(const Sem& s) {
  TextureCode c;
  c.geometry = geometry_of(s);
  c.integer = s.i.type(1) == Type::s32;
  return c;
}

TextureQuery query_of(const Sem& s) {
  static constexpr std::pair<Tok, TextureQuery> table[] = {{Tok::width, TextureQuery::Width},
                                                           {Tok::height, TextureQuery::Height},
                                                           {Tok::depth, TextureQuery::Depth},
                                                           {Tok::channel_data_type, TextureQuery::ChannelDataType},
                                                           {Tok::channel_order, TextureQuery::ChannelOrder},
                                                           {Tok::normalized_coords, TextureQuery::NormalizedCoords},
                                                           {Tok::filter_mode, TextureQuery::FilterMode},
                                                           {Tok::addr_mode_0, TextureQuery::AddrMode0},
                                                           {Tok::addr_mode_1, TextureQuery::AddrMode1},
                                                           {Tok::addr_mode_2, TextureQuery::AddrMode2},
                                                           {Tok::array_size, TextureQuery::ArraySize},
                                                           {Tok::num_mipmap_levels, TextureQuery::MipmapLevels},
                                                           {Tok::num_samples, TextureQuery::Samples},
                                                           {Tok::memory_layout, TextureQuery::MemoryLayout}};
  for (const auto& [tok, q] : table)
    if (s.has(tok)) return q;
  US_UNREACHABLE();
}
void query(const Sem& s, V level) {
  V r;
  const V handle = address(s, 1);
  if (s.has(Tok::force_unnormalized_coords)) return s.out(0, imm32(s.b, 0), Type::b32);
  s.b.call_rt(RtFn::TextureQuery, {handle, imm32(s.b, static_cast<u32>(query_of(s))), level}, {32}, &r, true);
  s.out(0, r, Type::b32);
}

SurfaceCode surface_code(const Sem& s, u32 count, bool formatted) {
  SurfaceCode c;
  c.geometry = geometry_of(s);
  c.bounds = s.has(Tok::clamp) ? Bounds::Clamp : s.has(Tok::zero) ? Bounds::Zero : Bounds::Trap;
  c.bytes = static_cast<u8>(isa::bits_of(s.i.type()) / 8);
  c.count = static_cast<u8>(count);
  c.formatted = formatted;
  c.is_signed = isa::is_signed(s.i.type());
  c.op = s.has(Tok::min)    ? SurfaceOp::Min
         : s.has(Tok::max)  ? SurfaceOp::Max
         : s.has(Tok::and_) ? SurfaceOp::And
         : s.has(Tok::or_)  ? SurfaceOp::Or
                            : SurfaceOp::Add;
  return c;
}
u32 vector_size(const Sem& s) { return s.has(Tok::v2) ? 2 : s.has(Tok::v4) ? 4 : 1; }

// [a, {c}], {b}
void store(const Sem& s, bool formatted) {
  const SurfaceCode code = surface_code(s, vector_size(s), formatted);
  const Type t = s.i.type();
  s.b.call_rt(RtFn::SurfaceStore,
              {address(s, 0), imm32(s.b, code.pack()), part(s, 1, 0), part(s, 1, 1), part(s, 1, 2), part(s, 2, 0, t),
               part(s, 2, 1, t), part(s, 2, 2, t), part(s, 2, 3, t)},
              {}, nullptr);
}
void reduction(const Sem& s, bool formatted) {
  const SurfaceCode code = surface_code(s, 1, formatted);
  s.b.call_rt(RtFn::SurfaceReduce,
              {address(s, 0), imm32(s.b, code.pack()), part(s, 1, 0), part(s, 1, 1), part(s, 1, 2), s.in(2)}, {},
              nullptr);
}

}  // namespace

void sem_tex(const Sem& s) { texture(s, code_of(s), imm32(s.b, 0), 5); }
void sem_tex_level(const Sem& s) {
  TextureCode c = code_of(s);
  c.level = true;
  texture(s, c, part(s, 5, 0), 6);
}
void sem_tex_grad(const Sem& s) {
  V r[4];
  s.b.call_rt(RtFn::TextureGrad,
              {address(s, 2), imm32(s.b, code_of(s).pack()), part(s, 4, 0), part(s, 4, 1), part(s, 4, 2), part(s, 4, 3),
               part(s, 5, 0), part(s, 5, 1), part(s, 5, 2), part(s, 6, 0), part(s, 6, 1), part(s, 6, 2), part(s, 7, 0),
               part(s, 7, 1), part(s, 7, 2)},
              {32, 32, 32, 32}, r, true);
  write_channels(s, r);
}
void sem_tld4(const Sem& s) {
  TextureCode c = code_of(s);
  c.gather = true;
  c.component = s.has(Tok::r) ? 0 : s.has(Tok::g) ? 1 : s.has(Tok::b) ? 2 : 3;
  texture(s, c, imm32(s.b, 0), 5);
}
void sem_txq(const Sem& s) { query(s, imm32(s.b, 0)); }
void sem_txq_level(const Sem& s) { query(s, part(s, 2, 0)); }
void sem_suq(const Sem& s) { query(s, imm32(s.b, 0)); }

// What kind of object a handle stands for. Objects hold their sampler's state, so none is a sampler.
void sem_istypep(const Sem& s) {
  V r = imm32(s.b, 0);
  const TextureQuery q = s.i.type() == Type::texref ? TextureQuery::IsTexture : TextureQuery::IsSurface;
  const V handle = address(s, 1);
  if (s.i.type() != Type::samplerref)
    s.b.call_rt(RtFn::TextureQuery, {handle, imm32(s.b, static_cast<u32>(q)), imm32(s.b, 0)}, {32}, &r, true);
  s.out(0, s.b.icmp(ICmp::Ne, r, imm32(s.b, 0)), Type::pred);
}

// {d}, [a, {c}]
void sem_suld(const Sem& s) {
  const u32 n = vector_size(s), bits = isa::bits_of(s.i.type());
  V r[4];
  const SurfaceCode code = surface_code(s, n, false);
  s.b.call_rt(RtFn::SurfaceLoad, {address(s, 1), imm32(s.b, code.pack()), part(s, 2, 0), part(s, 2, 1), part(s, 2, 2)},
              {bits, bits, bits, bits}, r, true);
  const ir::Operand& d = s.i.ops[0];
  if (d.kind != ir::Operand::Kind::Vector) return s.out(0, r[0]);
  for (u32 k = 0; k < n; ++k) write_extended(s.b, d.elems[k], r[k], s.i.type());
}
void sem_sust_b(const Sem& s) { store(s, false); }
void sem_sust_p(const Sem& s) { store(s, true); }
void sem_sured_b(const Sem& s) { reduction(s, false); }
void sem_sured_p(const Sem& s) { reduction(s, true); }

}  // namespace us::codegen
