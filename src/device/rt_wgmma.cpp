// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async: each warp of a warpgroup multiplies its sixteen rows of a by all of b. Eight columns of the result are one call.
//
// A descriptor says where a matrix lies in shared memory (addresses and distances in units of 16 bytes):
//
//     63 62 | 61 .. 52 | 51 49 | 48 46 | 45 .. 32 | 31 30 | 29 .. 16 | 15 14 | 13 .. 0
//     swizzle           base            stride             lead               start       swizzle 1: 128, 2: 64, 3: 32 bytes
//
// Matrices consist of chunks of 16 bytes. Elements along k side by side (K-major): row x has its chunks in a line as wide as the
// swizzle (16 bytes without); eight lines follow each other, the next eight rows are `stride` away, the next line's width of chunks
// `lead`. Elements along the other dimension side by side: the same with the dimensions exchanged, but without a swizzle the next
// eight k are `lead` away and the next chunk `stride`. A swizzle exclusive-ors address bits 4.. with bits 7.. less the base offset.
// Recorded with oracle/numerics/record_wgmma.cu.
#include <cstring>

#include "device/fragments.h"
#include "device/rt.h"

namespace us::device {
namespace {
using numerics::MmaTile;
using numerics::MmaType;

class SharedMatrix {
 public:
  SharedMatrix(const u8* memory, u64 descriptor, bool k_major)
      : memory_(memory),
        k_major_(k_major),
        start_(units(descriptor)),
        lead_(units(descriptor >> 16)),
        stride_(units(descriptor >> 32)),
        base_(u32(descriptor >> 49) & 7) {
    const u32 swizzle = u32(descriptor >> 62);
    width_ = swizzle == 1 ? 8 : swizzle == 2 ? 4 : swizzle == 3 ? 2 : 1;
  }
  // K-major: chunk `chunk` of row `line`. Else: chunk `chunk` of the row that is k = line.
  const u8* chunk(u32 line, u32 chunk) const {
    const bool exchanged = !k_major_ && width_ == 1;
    const u32 far = exchanged ? lead_ : stride_, next = exchanged ? stride_ : lead_;
    const u32 at = start_ + line / 8 * far + line % 8 * 16 * width_ + chunk / width_ * next + chunk % width_ * 16;
    const u32 swizzled = at ^ (((at >> 7) - base_) & (width_ - 1)) << 4;
    return memory_ + (swizzled & (kCtaSharedStride - 1));
  }

 private:
  static u32 units(u64 field) { return (u32(field) & 0x3fff) << 4; }
  const u8* memory_;
  bool k_major_;
  u32 start_, lead_, stride_, base_, width_;
};

struct Rows {
  MmaType type;
  bool k_major, negate;
  u32 first, lines, depth;
};
// The elements of `lines` rows from `first` on, Bytes each: put(row, k, element).
template <u32 Bytes, class Put>
void read_rows(const SharedMatrix& from, const Rows& rows, const Put& put) {
  constexpr u32 n = 16 / Bytes;
  const u32 shift = rows.type == MmaType::TF32 ? 13 : 0, flip = rows.negate ? 1u << (8 * Bytes - 1) : 0;
  const u32 outer = rows.k_major ? rows.lines : rows.depth, inner = (rows.k_major ? rows.depth : rows.lines) / n;
  for (u32 x = 0; x < outer; ++x)
    for (u32 c = 0; c < inner; ++c) {
      const u8* chunk = rows.k_major ? from.chunk(rows.first + x, c) : from.chunk(x, rows.first / n + c);
      for (u32 e = 0; e < n; ++e) {
        u32 v = 0;
        std::memcpy(&v, chunk + e * Bytes, Bytes);
        v = (v ^ flip) >> shift;
        if (rows.k_major)
          put(x, c * n + e, v);
        else
          put(c * n + e, x, v);
      }
    }
}
template <class Put>
void read_matrix(const SharedMatrix& from, const Rows& rows, const Put& put) {
  switch (rows.type == MmaType::B1 ? 32 : numerics::bits_of(rows.type)) {
    case 8:
      return read_rows<1>(from, rows, put);
    case 16:
      return read_rows<2>(from, rows, put);
    default:
      return read_rows<4>(from, rows, put);
  }
}
}  // namespace

void multiply_tile(const MmaCode& code, const u8* shared, u32 warp, u64 a, u64 b, const u64* registers, u64* results) {
  const u64 *meta = registers + 4 * 32, *c = meta + 32;
  const bool bits = code.a == MmaType::B1;
  const u32 depth = bits ? code.k / 32u : code.k;
  MmaTile t;
  if (code.a_registers) {
    load_a(code, registers, meta, t);
    const u32 top = numerics::bits_of(code.a) - (code.a == MmaType::TF32 ? 14 : 1);
    if (code.negate_a)
      for (u32 k = 0; k < depth; ++k)
        for (u32& x : t.a[k]) x ^= x == numerics::kMmaAbsent ? 0 : 1u << top;
  } else {
    const Metadata metadata(code, meta);
    const SharedMatrix from(shared, a, !code.a_column);
    Rows rows{code.a, !code.a_column, code.negate_a, warp * 16, 16, depth};
    if (code.sparse) {
      for (u32 k = 0; k < depth; ++k)
        for (u32& x : t.a[k]) x = numerics::kMmaAbsent;
      rows.depth /= 2;
      read_matrix(from, rows, [&](u32 i, u32 k, u32 v) { t.a[metadata.column(i, k)][i] = v; });
    } else {
      read_matrix(from, rows, [&](u32 i, u32 k, u32 v) { t.a[k][i] = v; });
    }
  }
  const SharedMatrix from(shared, b, !code.b_row);
  read_matrix(from, Rows{code.b, !code.b_row, code.negate_b, code.tile * 8u, 8, depth},
              [&](u32 j, u32 k, u32 v) { t.b[k][j] = v; });
  load_c(code, c, t);
  if (bits)
    numerics::mma_bits(false, depth, t);
  else if (numerics::is_integer(code.a))
    numerics::mma_integer(code.a, code.b, depth, code.saturate, t);
  else
    numerics::mma_step({code.a, code.b, code.d, eight_bit_float(code.a) ? 13u : 25u, 0, depth}, t);
  store_d(code, t, results);
}

// args: code, descriptors of a and b, registers of a, the metadata, registers of c
void rt_Wgmma(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  US_RT_ENTER(ctx);
  const u32 lane = first_lane(mask);
  multiply_tile(MmaCode::unpack(args[lane]), ctx->window + ctx->shared_base, ctx->warp_id % 4, args[32 + lane],
                args[64 + lane], args + 3 * 32, results);
}

}  // namespace us::device
