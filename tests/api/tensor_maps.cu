// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Tensor maps: which descriptions are accepted.
#include "cu.h"

struct Tiled {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  unsigned rank = 2;
  size_t offset = 0;
  cuuint64_t dims[5] = {64, 32, 4, 4, 4}, strides[4] = {256, 8192, 32768, 131072};
  cuuint32_t box[5] = {16, 8, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion l2 = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

static char* memory;

template <class F>
static void one(const char* what, F&& change) {
  alignas(64) CUtensorMap map;
  Tiled t;
  change(t);
  api::show_cu(what, cuTensorMapEncodeTiled(&map, t.type, t.rank, memory + t.offset, t.dims, t.strides, t.box, t.steps, t.interleave, t.swizzle, t.l2, t.fill));
}

int main() {
  MUST(cudaMalloc(&memory, 1 << 20));
  one("plain", [](Tiled&) {});
  for (unsigned r = 0; r <= 6; ++r) {
    const char* names[] = {"rank 0", "rank 1", "rank 2", "rank 3", "rank 4", "rank 5", "rank 6"};
    one(names[r], [&](Tiled& t) { t.rank = r; });
  }
  one("address + 8", [](Tiled& t) { t.offset = 8; });
  one("address + 16", [](Tiled& t) { t.offset = 16; });
  one("dimension 0", [](Tiled& t) { t.dims[1] = 0; });
  one("dimension 2^32", [](Tiled& t) { t.dims[1] = cuuint64_t{1} << 32; });
  one("dimension 2^32 + 1", [](Tiled& t) { t.dims[1] = (cuuint64_t{1} << 32) + 1; });
  one("stride 8", [](Tiled& t) { t.strides[0] = 8; });
  one("stride 0", [](Tiled& t) { t.strides[0] = 0; });
  one("stride 128, rows overlap", [](Tiled& t) { t.strides[0] = 128; });
  one("stride 2^40", [](Tiled& t) { t.strides[0] = cuuint64_t{1} << 40; });
  one("box 0", [](Tiled& t) { t.box[1] = 0; });
  one("box 256", [](Tiled& t) { t.box[1] = 256; });
  one("box 257", [](Tiled& t) { t.box[1] = 257; });
  one("box of 12 bytes", [](Tiled& t) { t.box[0] = 3; });
  one("step 0", [](Tiled& t) { t.steps[1] = 0; });
  one("step 8", [](Tiled& t) { t.steps[1] = 8; });
  one("step 9", [](Tiled& t) { t.steps[1] = 9; });
  one("first step 0", [](Tiled& t) { t.steps[0] = 0; });
  one("swizzle 32, row of 64", [](Tiled& t) { t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; });
  one("swizzle 64, row of 64", [](Tiled& t) { t.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; });
  one("swizzle 128, row of 64", [](Tiled& t) { t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B; });
  one("swizzle 128, row of 256", [](Tiled& t) { t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B, t.box[0] = 64; });
  one("swizzle 128 of 32", [](Tiled& t) { t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B; });
  one("swizzle 9", [](Tiled& t) { t.swizzle = static_cast<CUtensorMapSwizzle>(9); });
  one("interleave 16, rank 2", [](Tiled& t) { t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
  one("interleave 16, rank 3", [](Tiled& t) { t.interleave = CU_TENSOR_MAP_INTERLEAVE_16B, t.rank = 3; });
  one("interleave 32, rank 3", [](Tiled& t) { t.interleave = CU_TENSOR_MAP_INTERLEAVE_32B, t.rank = 3; });
  one("interleave 32, rank 3, swizzle 32", [](Tiled& t) { t.interleave = CU_TENSOR_MAP_INTERLEAVE_32B, t.rank = 3, t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; });
  one("interleave 32, rank 3, swizzle 32, address + 16", [](Tiled& t) { t.interleave = CU_TENSOR_MAP_INTERLEAVE_32B, t.rank = 3, t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B, t.offset = 16; });
  one("NaN for floats", [](Tiled& t) { t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; });
  one("NaN for integers", [](Tiled& t) { t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA, t.type = CU_TENSOR_MAP_DATA_TYPE_INT32; });
  one("promotion 7", [](Tiled& t) { t.l2 = static_cast<CUtensorMapL2promotion>(7); });
  one("type 16", [](Tiled& t) { t.type = static_cast<CUtensorMapDataType>(16); });
  one("type of 4 bits", [](Tiled& t) { t.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, t.box[0] = 32; });
  for (int type = 0; type <= 12; ++type) {
    char name[20];
    std::snprintf(name, sizeof name, "type %d", type);
    one(name, [&](Tiled& t) { t.type = static_cast<CUtensorMapDataType>(type); });
  }
  alignas(64) CUtensorMap map[2];
  Tiled t;
  CU(cuTensorMapEncodeTiled(nullptr, t.type, t.rank, memory, t.dims, t.strides, t.box, t.steps, t.interleave, t.swizzle, t.l2, t.fill));
  auto* askew = reinterpret_cast<CUtensorMap*>(reinterpret_cast<char*>(map) + 32);
  CU(cuTensorMapEncodeTiled(askew, t.type, t.rank, memory, t.dims, t.strides, t.box, t.steps, t.interleave, t.swizzle, t.l2, t.fill));
  CU(cuTensorMapEncodeTiled(map, t.type, t.rank, nullptr, t.dims, t.strides, t.box, t.steps, t.interleave, t.swizzle, t.l2, t.fill));
  CU(cuTensorMapReplaceAddress(map, memory + 64));
  CU(cuTensorMapReplaceAddress(map, memory + 8));

  const int lower[3] = {-1, -1, 0}, upper[3] = {1, 1, 0}, far[3] = {200, 0, 0};
  CU(cuTensorMapEncodeIm2col(map, t.type, 4, memory, t.dims, t.strides, lower, upper, 16, 32, t.steps, t.interleave, t.swizzle, t.l2, t.fill));
  CU(cuTensorMapEncodeIm2col(map, t.type, 2, memory, t.dims, t.strides, lower, upper, 16, 32, t.steps, t.interleave, t.swizzle, t.l2, t.fill));
  CU(cuTensorMapEncodeIm2col(map, t.type, 4, memory, t.dims, t.strides, far, upper, 16, 32, t.steps, t.interleave, t.swizzle, t.l2, t.fill));
  CU(cuTensorMapEncodeIm2col(map, t.type, 4, memory, t.dims, t.strides, lower, upper, 257, 32, t.steps, t.interleave, t.swizzle, t.l2, t.fill));
  CU(cuTensorMapEncodeIm2col(map, t.type, 4, memory, t.dims, t.strides, lower, upper, 16, 1025, t.steps, t.interleave, t.swizzle, t.l2, t.fill));
  return 0;
}
