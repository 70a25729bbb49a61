// SPDX-License-Identifier: Apache-2.0
// Tensor Map Object Management.
#include <cstring>

#include "cuda/libcuda/driver_api.h"
#include "memory/tensor_map.h"

using namespace us::cuda;
using us::memory::TensorMap;

namespace {

constexpr us::u64 kMostDim = us::u64{1} << 32, kMostStride = us::u64{1} << 40;

// What all ways of encoding share.
struct Common {
  CUtensorMapDataType type;
  us::u32 rank;
  const void* address;
  const cuuint64_t* dims;
  const cuuint64_t* strides;
  const cuuint32_t* element_strides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion l2;
  CUtensorMapFloatOOBfill fill;
};

bool is_float(us::u8 type) {
  return type == TensorMap::F16 || type == TensorMap::F32 || type == TensorMap::F64 ||
         (type >= TensorMap::BF16 && type <= TensorMap::TF32Ftz);
}

bool known_enums(const Common& c) {
  return c.type >= 0 && c.type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B && c.interleave >= 0 &&
         c.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B && c.swizzle >= 0 &&
         c.swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B && c.l2 >= 0 && c.l2 <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
         c.fill >= 0 && c.fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
}

// Bytes that an inner row of the box may have under a swizzle; 0: any number.
us::u32 swizzle_span(us::u8 swizzle) {
  return swizzle == TensorMap::NoSwizzle   ? 0
         : swizzle == TensorMap::Swizzle32 ? 32
         : swizzle == TensorMap::Swizzle64 ? 64
                                           : 128;
}

bool set_sizes(const Common& c, us::u64 unit, TensorMap& m) {
  for (us::u32 i = 0; i < c.rank; ++i) {
    if (c.dims[i] == 0 || c.dims[i] > kMostDim) return false;
    if (c.element_strides[i] == 0 || c.element_strides[i] > 8) return false;
    m.last[i] = static_cast<us::u32>(c.dims[i] - 1);
    m.element_strides[i] = static_cast<us::u8>(c.element_strides[i]);
  }
  for (us::u32 i = 0; i + 1 < c.rank; ++i) {
    if (c.strides[i] % unit || c.strides[i] >= kMostStride) return false;
    m.strides[i] = c.strides[i];
  }
  return true;
}

// Types of 4 and 6 bits came after the devices of this model.
bool set_common(const Common& c, us::u32 least_rank, TensorMap& m) {
  if (!c.dims || !c.element_strides || !known_enums(c)) return false;
  if (c.rank < least_rank || c.rank > 5 || !c.strides) return false;
  if (c.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && c.rank < 3) return false;
  if (c.type >= CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || c.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return false;
  const us::u64 unit = c.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  const auto at = reinterpret_cast<us::u64>(c.address);
  if (at % unit) return false;
  m.magic = TensorMap::kMagic;
  m.type = static_cast<us::u8>(c.type);
  m.rank = static_cast<us::u8>(c.rank);
  m.interleave = static_cast<us::u8>(c.interleave);
  m.swizzle = static_cast<us::u8>(c.swizzle);
  m.l2_promotion = static_cast<us::u8>(c.l2);
  m.nan_fill = static_cast<us::u8>(c.fill);
  m.address = at;
  if (m.nan_fill && !is_float(m.type)) return false;
  return set_sizes(c, unit, m);
}

bool inner_row_fits(const TensorMap& m, us::u32 elements) {
  const us::u32 bytes = elements * m.element_bits() / 8, span = swizzle_span(m.swizzle);
  return bytes % 16 == 0 && (span == 0 || bytes <= span || m.interleave != TensorMap::NoInterleave);
}

bool set_box(const cuuint32_t* box, TensorMap& m) {
  if (!box) return false;
  for (us::u32 i = 0; i < m.rank; ++i) {
    if (box[i] == 0 || box[i] > 256) return false;
    m.box[i] = static_cast<us::u16>(box[i]);
  }
  return inner_row_fits(m, box[0]);
}

bool set_column(us::u32 channels, us::u32 pixels, TensorMap& m) {
  if (channels == 0 || channels > 256 || pixels == 0 || pixels > 1024) return false;
  m.channels = static_cast<us::u16>(channels);
  m.pixels = static_cast<us::u16>(pixels);
  return inner_row_fits(m, channels);
}

// Offsets of rank - 2 dimensions; the fewer there are, the larger they may be.
bool set_corners(const int* lower, const int* upper, TensorMap& m) {
  const us::u32 n = m.rank - 2u;
  const int most = n == 1 ? 32767 : n == 2 ? 127 : 15;
  for (us::u32 i = 0; i < n; ++i) {
    if (lower[i] < -most - 1 || lower[i] > most || upper[i] < -most - 1 || upper[i] > most) return false;
    if (static_cast<us::i64>(m.size(i + 1)) + upper[i] - lower[i] <= 0) return false;
    m.lower[i] = static_cast<us::i16>(lower[i]);
    m.upper[i] = static_cast<us::i16>(upper[i]);
  }
  return true;
}

template <class F>
CUresult encode(CUtensorMap* out, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  TensorMap m;
  if (!f(m)) return CUDA_ERROR_INVALID_VALUE;
  static_assert(sizeof *out == sizeof m);
  std::memcpy(out, &m, sizeof m);
  return CUDA_SUCCESS;
}

}  // namespace

US_API CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                       const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                       const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2,
                                       CUtensorMapFloatOOBfill fill) {
  const Common c{type, rank, address, dims, strides, element_strides, interleave, swizzle, l2, fill};
  return encode(out, [&](TensorMap& m) { return set_common(c, 1, m) && set_box(box, m); });
}

US_API CUresult cuTensorMapEncodeIm2col(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                        const cuuint64_t* dims, const cuuint64_t* strides, const int* lower,
                                        const int* upper, cuuint32_t channels, cuuint32_t pixels,
                                        const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2,
                                        CUtensorMapFloatOOBfill fill) {
  const Common c{type, rank, address, dims, strides, element_strides, interleave, swizzle, l2, fill};
  return encode(out, [&](TensorMap& m) {
    m.mode = TensorMap::Mode::Im2col;
    return lower && upper && set_common(c, 3, m) && set_column(channels, pixels, m) && set_corners(lower, upper, m);
  });
}

// The devices of this model do not load along W only.
US_API CUresult cuTensorMapEncodeIm2colWide(CUtensorMap* out, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                            const cuuint64_t*, int, int, cuuint32_t, cuuint32_t, const cuuint32_t*,
                                            CUtensorMapInterleave, CUtensorMapIm2ColWideMode, CUtensorMapSwizzle,
                                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  return out ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

US_API CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  TensorMap m;
  if (!map || !address) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(static_cast<void*>(&m), map, sizeof m);
  const us::u64 at = reinterpret_cast<us::u64>(address), unit = m.interleave == TensorMap::Interleave32 ? 32 : 16;
  if (m.magic != TensorMap::kMagic || at % unit) return CUDA_ERROR_INVALID_VALUE;
  m.address = at;
  std::memcpy(map, &m, sizeof m);
  return CUDA_SUCCESS;
}
