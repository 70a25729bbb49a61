// SPDX-License-Identifier: Apache-2.0
// The matrices of wgmma.mma_async: each warp of a warpgroup multiplies its sixteen rows of a by all of b, eight columns
// at a time.
//
// A descriptor says where a matrix lies in shared memory (addresses and distances in units of 16 bytes):
//
//     63 62 | 61 .. 52 | 51 49 | 48 46 | 45 .. 32 | 31 30 | 29 .. 16 | 15 14 | 13 .. 0
//     swizzle           base            stride             lead               start
//     swizzle 1: 128, 2: 64, 3: 32 bytes
//
// Matrices consist of chunks of 16 bytes. Elements along k side by side (K-major): row x has its chunks in a line as
// wide as the swizzle (16 bytes without); eight lines follow each other, the next eight rows are `stride` away, the
// next line's width of chunks `lead`. Elements along the other dimension side by side: the same with the dimensions
// exchanged, but without a swizzle the next eight k are `lead` away and the next chunk `stride`. A swizzle
// exclusive-ors address bits 4.. with bits 7.. less the base offset. Recorded with oracle/numerics/record_wgmma.cu.
#include <algorithm>
#include <cstring>

#include "device/abi/abi.h"
#include "device/matrix/fragments.h"
#include "device/matrix/warpgroup.h"

namespace us::device {
namespace {
using numerics::MmaTile;
using numerics::MmaType;

class SharedMatrix {
 public:
  SharedMatrix(const u8* memory, u64 descriptor, bool k_major, WgmmaTerms::Limit& limit)
      : memory_(memory),
        limit_(limit),
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
    const u32 place = swizzled & (kReach - 1);
    if (limit_.chunks) [[unlikely]]
      limit_.chunks->push_back(place);
    if (place + 16 <= limit_.end) [[likely]]
      return memory_ + place;
    limit_.broken = true;
    return memory_;
  }

 private:
  static constexpr u32 kReach = 256 * 1024;  // of addresses of 14 bits in units of 16 bytes
  static u32 units(u64 field) { return (u32(field) & 0x3fff) << 4; }
  const u8* memory_;
  WgmmaTerms::Limit& limit_;
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
bool bits(const MmaCode& code) { return code.a == MmaType::B1; }
}  // namespace

void WgmmaTerms::open(const MmaCode& code, u32 tiles) {
  code_ = code;
  depth_ = bits(code) ? code.k / 32u : code.k;
  lines_.resize((4 * 3 + tiles * 2) * depth_);
}

void WgmmaTerms::read_a(u32 warp, const u8* shared, u64 descriptor, const u64* registers) {
  const u64* meta = registers + 4 * 32;
  auto* a = reinterpret_cast<MmaTile::Column*>(of_a(warp));
  if (code_.a_registers) {
    load_a(code_, registers, meta, a);
    const u32 top = numerics::bits_of(code_.a) - (code_.a == MmaType::TF32 ? 14 : 1);
    if (code_.negate_a)
      for (u32 k = 0; k < depth_; ++k)
        for (u32& x : a[k]) x ^= x == numerics::kMmaAbsent ? 0 : 1u << top;
  } else {
    const Metadata metadata(code_, meta);
    const SharedMatrix from(shared, descriptor, !code_.a_column, limit);
    Rows rows{code_.a, !code_.a_column, code_.negate_a, warp * 16, 16, depth_};
    if (code_.sparse) {
      std::fill_n(a[0], depth_ * numerics::kMmaRows, numerics::kMmaAbsent);
      rows.depth /= 2;
      read_matrix(from, rows, [&](u32 i, u32 k, u32 v) { a[metadata.column(i, k)][i] = v; });
    } else {
      read_matrix(from, rows, [&](u32 i, u32 k, u32 v) { a[k][i] = v; });
    }
  }
  a_[warp] =
      numerics::mma_elements(code_.a, a[0], depth_ * numerics::kMmaRows, reinterpret_cast<float*>(of_a(warp) + depth_));
}

void WgmmaTerms::read_b(u32 tile, const u8* shared, u64 descriptor) {
  auto* b = reinterpret_cast<u32(*)[numerics::kMmaColumns]>(of_b(tile));
  const SharedMatrix from(shared, descriptor, !code_.b_row, limit);
  read_matrix(from, Rows{code_.b, !code_.b_row, code_.negate_b, tile * 8, 8, depth_},
              [&](u32 j, u32 k, u32 v) { b[k][j] = v; });
  b_[tile] = numerics::mma_elements(code_.b, b[0], depth_ * numerics::kMmaColumns,
                                    reinterpret_cast<float*>(of_b(tile)) + depth_ * numerics::kMmaColumns);
}

void WgmmaTerms::multiply(u32 warp, u32 tile, const u64* c, u64* results) const {
  MmaTile t;
  load_c(code_, c, t);
  const numerics::MmaElements &a = a_[warp], &b = b_[tile];
  if (bits(code_) || numerics::is_integer(code_.a)) {
    std::memcpy(t.a, a.bits, depth_ * sizeof t.a[0]);
    std::memcpy(t.b, b.bits, depth_ * sizeof t.b[0]);
    if (bits(code_))
      numerics::mma_bits(false, depth_, t);
    else
      numerics::mma_integer(code_.a, code_.b, depth_, code_.saturate, t);
  } else {
    numerics::mma_step({code_.a, code_.b, code_.d, eight_bit_float(code_.a) ? 13u : 25u, 0, depth_}, a, b, t.c, t.d);
  }
  store_d(code_, t, results);
}

void multiply_tile(const MmaCode& code, const u8* shared, u32 warp, u64 a, u64 b, const u64* registers, u64* results) {
  WgmmaTerms terms;
  terms.open(code, code.tile + 1u);
  terms.read_a(warp, shared, a, registers);
  terms.read_b(code.tile, shared, b);
  terms.multiply(warp, code.tile, registers + 5 * 32, results);
}

}  // namespace us::device
