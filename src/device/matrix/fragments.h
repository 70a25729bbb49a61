// SPDX-License-Identifier: Apache-2.0
// Registers of a warp to tiles of matrices and back. Where lanes hold which elements is in the PTX ISA; with n elements
// in a register, a and b look the same for every type:
//
//     register r of lane l holds a(row l/4 + 8 (r odd), columns 4n (r/2) + n (l%4) ..)
//                                b(column l/4,          rows    4n r     + n (l%4) ..)
//     element e of lane l is     c(row l/4 + 8 (e/2),   column  2 (l%4) + e%2)
#pragma once
#include "device/abi/mma_code.h"

namespace us::device {

bool eight_bit_float(numerics::MmaType);

// Where the metadata of a sparse matrix say that stored elements of a row belong. Each four bits hold two positions of
// a chunk.
class Metadata {
 public:
  Metadata(const MmaCode& code, const u64* registers) : code_(code), registers_(registers) {}
  u32 column(u32 row, u32 k) const;  // the logical column of stored element k

 private:
  u32 nibble(u32 row, u32 chunk) const;
  const MmaCode& code_;
  const u64* registers_;
};

// One instruction of a warp: registers of a, b, c and the metadata, 32 lanes each, to those of d.
void multiply_fragments(const MmaCode&, const u64* registers, u64* results);
// Eight columns of wgmma.mma_async for warp 0 .. 3 of a warpgroup; a, b: descriptors of matrices in shared memory;
// registers: four of a, the metadata, those of c.
void multiply_tile(const MmaCode&, const u8* shared, u32 warp, u64 a, u64 b, const u64* registers, u64* results);

void load_a(const MmaCode&, const u64* registers, const u64* metadata, numerics::MmaTile::Column* a);
void load_b(const MmaCode&, const u64* registers, u32 (*b)[numerics::kMmaColumns]);
void load_c(const MmaCode&, const u64* registers, numerics::MmaTile&);
void store_d(const MmaCode&, const numerics::MmaTile&, u64* results);

}  // namespace us::device
