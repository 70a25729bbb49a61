// SPDX-License-Identifier: Apache-2.0
// Bulk tensor copies of tiled maps: every element type, rank and swizzle, boxes that hang over every edge, element
// strides, both fills, stores, reductions, and im2col maps with offsets. Each line is the hash of all of shared memory,
// or of the tensor.
#include <cuda.h>

#include <algorithm>
#include <string>

#include "program.h"
using namespace program;

constexpr uint32_t kShared = 32 * 1024;

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
struct Place { int c[5]; unsigned short o[3]; };

__device__ void load(int rank, bool im2col, uint32_t to, const CUtensorMap* map, const Place& p, uint32_t bar) {
#define LOAD(dim, mode, list, ...)                                                                                                      \
  asm volatile("cp.async.bulk.tensor." dim ".shared::cluster.global." mode ".mbarrier::complete_tx::bytes [%0], [%1, {" list ";" ::"r"(to), \
               "l"(map), "r"(bar), __VA_ARGS__                                                                                           \
               : "memory")
  const int *c = p.c;
  if (im2col) {
    if (rank == 3) LOAD("3d", "im2col", "%3, %4, %5}], [%2], {%6}", "r"(c[0]), "r"(c[1]), "r"(c[2]), "h"(p.o[0]));
    if (rank == 4) LOAD("4d", "im2col", "%3, %4, %5, %6}], [%2], {%7, %8}", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "h"(p.o[0]), "h"(p.o[1]));
    if (rank == 5) LOAD("5d", "im2col", "%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "h"(p.o[0]), "h"(p.o[1]), "h"(p.o[2]));
    return;
  }
  if (rank == 1) LOAD("1d", "tile", "%3}], [%2]", "r"(c[0]));
  if (rank == 2) LOAD("2d", "tile", "%3, %4}], [%2]", "r"(c[0]), "r"(c[1]));
  if (rank == 3) LOAD("3d", "tile", "%3, %4, %5}], [%2]", "r"(c[0]), "r"(c[1]), "r"(c[2]));
  if (rank == 4) LOAD("4d", "tile", "%3, %4, %5, %6}], [%2]", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
  if (rank == 5) LOAD("5d", "tile", "%3, %4, %5, %6, %7}], [%2]", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]));
}

__device__ void store(int rank, const CUtensorMap* map, const Place& p, uint32_t from) {
#define STORE(dim, list, ...) \
  asm volatile("cp.async.bulk.tensor." dim ".global.shared::cta.tile.bulk_group [%0, {" list "}], [%1];" ::"l"(map), "r"(from), __VA_ARGS__ : "memory")
  const int *c = p.c;
  if (rank == 1) STORE("1d", "%2", "r"(c[0]));
  if (rank == 2) STORE("2d", "%2, %3", "r"(c[0]), "r"(c[1]));
  if (rank == 3) STORE("3d", "%2, %3, %4", "r"(c[0]), "r"(c[1]), "r"(c[2]));
  if (rank == 4) STORE("4d", "%2, %3, %4, %5", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
  if (rank == 5) STORE("5d", "%2, %3, %4, %5, %6", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]));
}

__device__ void reduce(int op, const CUtensorMap* map, const Place& p, uint32_t from) {
#define REDUCE(op)                                                                                                                          \
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." op ".tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(from), \
               "r"(p.c[0]), "r"(p.c[1])                                                                                                     \
               : "memory")
  if (op == 0) REDUCE("add");
  if (op == 1) REDUCE("min");
  if (op == 2) REDUCE("max");
  if (op == 3) REDUCE("inc");
  if (op == 4) REDUCE("dec");
  if (op == 5) REDUCE("and");
  if (op == 6) REDUCE("or");
  if (op == 7) REDUCE("xor");
}

enum Way { Load, Im2col, Store, Reduce };

__global__ void copy(const __grid_constant__ CUtensorMap map, int rank, Way way, int op, Place place, uint32_t start, uint32_t bytes, uint32_t* out) {
  extern __shared__ __align__(1024) uint32_t tile[];
  __shared__ uint64_t bar;
  const uint32_t t = threadIdx.x, base = shared(tile) + start;
  for (uint32_t k = t; k < kShared / 4; k += blockDim.x) tile[k] = way == Reduce ? mix(k) & 0x3bff3bffu : mix(k + 5);
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    if (way == Load || way == Im2col) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&bar)), "r"(bytes) : "memory");
      load(rank, way == Im2col, base, &map, place, shared(&bar));
    } else {
      if (way == Store) store(rank, &map, place, base);
      if (way == Reduce) reduce(op, &map, place, base);
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
  }
  if (way == Load || way == Im2col)
    asm volatile("{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}" ::"r"(shared(&bar)) : "memory");
  __syncthreads();
  for (uint32_t k = t; k < kShared / 4; k += blockDim.x) out[k] = tile[k];
}

struct Map {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  std::vector<cuuint64_t> dims;
  std::vector<cuuint32_t> box, steps;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  std::vector<int> lower, upper;
  cuuint32_t channels = 0, pixels = 0;
};

int size_of(CUtensorMapDataType t) {
  static const int sizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return sizes[t];
}

using EncodeTiled = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                 const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
using EncodeIm2col = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const int*,
                                  const int*, cuuint32_t, cuuint32_t, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                  CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
template <class F>
F entry(const char* name) {
  void* p = nullptr;
  cudaDriverEntryPointQueryResult found;
  MUST(cudaGetDriverEntryPointByVersion(name, &p, 12000, cudaEnableDefault, &found));
  return reinterpret_cast<F>(p);
}

FILE* dump = nullptr;  // all that is hashed, if an argument names a file

void run(const std::string& name, const Map& m, Way way, Place place, uint32_t start = 0, int op = 0) {
  const int rank = int(m.dims.size()), element = size_of(m.type);
  std::vector<cuuint64_t> strides;
  strides.reserve(4);  // the pointer must not be null
  cuuint64_t bytes = (m.dims[0] * element + 15) / 16 * 16 + 16;
  for (int d = 1; d < rank; ++d) {
    strides.push_back(bytes);
    bytes = bytes * m.dims[d] + 32;
  }
  bytes = (bytes + 15) / 16 * 16;
  std::vector<uint32_t> words = random_words(bytes / 4 + 64, 3);
  if (way == Reduce)
    for (auto& w : words) w &= 0x3bff3bffu;
  const Device<uint32_t> tensor(words), out(kShared / 4);
  std::vector<cuuint32_t> steps = m.steps.empty() ? std::vector<cuuint32_t>(rank, 1) : m.steps;
  alignas(64) CUtensorMap map;
  uint32_t moved = element;
  CUresult r;
  if (way == Im2col) {
    static const auto encode = entry<EncodeIm2col>("cuTensorMapEncodeIm2col");
    r = encode(&map, m.type, rank, static_cast<uint32_t*>(tensor), m.dims.data(), strides.data(), m.lower.data(), m.upper.data(), m.channels, m.pixels,
               steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, m.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, m.fill);
    moved *= m.channels * m.pixels;
  } else {
    static const auto encode = entry<EncodeTiled>("cuTensorMapEncodeTiled");
    r = encode(&map, m.type, rank, static_cast<uint32_t*>(tensor), m.dims.data(), strides.data(), m.box.data(), steps.data(),
               CU_TENSOR_MAP_INTERLEAVE_NONE, m.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, m.fill);
    for (int d = 0; d < rank; ++d) moved *= d ? (m.box[d] + steps[d] - 1) / steps[d] : m.box[d];
  }
  if (r != CUDA_SUCCESS) {
    printf("%-40s not encoded: %d\n", name.c_str(), r);
    return;
  }
  MUST(cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  copy<<<1, 64, kShared>>>(map, rank, way, op, place, start, moved, out);
  MUST_RUN();
  const std::vector<uint32_t> got = way == Load || way == Im2col ? out.copy() : tensor.copy();
  show(name.c_str(), got);
  if (dump) std::fwrite(got.data(), 4, got.size(), dump);
}

int main(int argc, char** argv) {
  if (argc > 1) dump = std::fopen(argv[1], "wb");
  const char* swizzles[] = {"none", "32", "64", "128"};
  for (int type = 0; type < 13; ++type)
    for (int fill = 0; fill < 2; ++fill) {
      Map m;
      m.type = CUtensorMapDataType(type);
      if (fill) m.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
      m.dims = {40, 9};
      m.box = {cuuint32_t(64 / size_of(m.type)), 8};
      run("type " + std::to_string(type) + (fill ? " nan" : " zero"), m, Load, {{-16 / size_of(m.type), 3}}, 0);
    }
  for (int swizzle = 0; swizzle < 4; ++swizzle)
    for (int inner : {16, 32, 64, 128}) {
      Map m;
      m.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
      m.swizzle = CUtensorMapSwizzle(swizzle);
      m.dims = {100, 50};
      m.box = {cuuint32_t(inner / 2), 24};
      for (uint32_t start : {0u, 128u, 512u, 1024u, 1408u}) {
        const std::string name = std::string("swizzle ") + swizzles[swizzle] + ", " + std::to_string(inner) + " bytes, at " + std::to_string(start);
        run(name, m, Load, {{8, 7}}, start);
        run(name + " store", m, Store, {{8, 7}}, start);
      }
    }
  const std::vector<cuuint64_t> dims = {20, 7, 5, 4, 3};
  const std::vector<cuuint32_t> box = {8, 3, 2, 3, 2};
  for (int rank = 1; rank <= 5; ++rank)
    for (int shift = -9; shift <= 21; shift += 5) {
      Map m;
      m.dims.assign(dims.begin(), dims.begin() + rank);
      m.box.assign(box.begin(), box.begin() + rank);
      Place p = {};
      // A row begins at a multiple of 16 bytes.
      for (int d = 0; d < rank; ++d) p.c[d] = d ? shift / (d + 1) : shift / 5 * 4;
      run("rank " + std::to_string(rank) + ", shift " + std::to_string(shift), m, Load, p);
      if (shift > 0) run("rank " + std::to_string(rank) + ", shift " + std::to_string(shift) + " store", m, Store, p);
      m.steps = {1, 2, 3, 2, 1};
      m.steps.resize(rank);
      run("rank " + std::to_string(rank) + ", shift " + std::to_string(shift) + " steps", m, Load, p);
      if (shift > 0) run("rank " + std::to_string(rank) + ", shift " + std::to_string(shift) + " steps store", m, Store, p);
    }
  const char* ops[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (auto type : {CU_TENSOR_MAP_DATA_TYPE_UINT32, CU_TENSOR_MAP_DATA_TYPE_INT32, CU_TENSOR_MAP_DATA_TYPE_UINT64, CU_TENSOR_MAP_DATA_TYPE_INT64,
                    CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32})
    for (int op = 0; op < 8; ++op) {
      const bool wide = type == CU_TENSOR_MAP_DATA_TYPE_INT64 || type == CU_TENSOR_MAP_DATA_TYPE_UINT64;
      const bool half = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
      if ((half && op > 2) || (type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 && op) || (wide && (op == 3 || op == 4))) continue;
      if (type == CU_TENSOR_MAP_DATA_TYPE_INT32 && (op == 3 || op == 4)) continue;
      if (type == CU_TENSOR_MAP_DATA_TYPE_INT64 && op != 1 && op != 2) continue;  // an illegal instruction
      Map m;
      m.type = type;
      m.dims = {24, 9};
      m.box = {16, 6};
      run("reduce type " + std::to_string(type) + " " + ops[op], m, Reduce, {{16 / size_of(m.type), 5}}, 0, op);
    }
  for (int rank = 3; rank <= 5; ++rank)
    for (int swizzle = 0; swizzle < 4; swizzle += 3)
      for (int k = 0; k < 6; ++k) {
        Map m;
        m.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
        m.swizzle = CUtensorMapSwizzle(swizzle);
        m.dims = {64, 9, 7, 5, 4};
        m.dims[rank - 1] = 4;
        m.dims.resize(rank);
        m.lower.assign(rank - 2, -1);
        m.upper.assign(rank - 2, k == 3 ? 0 : -1);
        m.channels = 32, m.pixels = k == 4 ? 100 : 24;
        m.steps.assign(rank, 1);
        if (k == 5)
          for (int d = 1; d < rank - 1; ++d) m.steps[d] = 2;
        Place p = {};
        p.c[0] = k == 1 ? 48 : 8 * k;
        for (int d = 1; d < rank - 1; ++d) p.c[d] = k == 2 ? 3 : -1, p.o[d - 1] = (unsigned short)(k % 3);
        p.c[rank - 1] = k == 2 ? 2 : 1;
        run("im2col rank " + std::to_string(rank) + ", swizzle " + swizzles[swizzle] + ", " + std::to_string(k), m, Im2col, p);
      }
  if (dump) std::fclose(dump);
  return finish();
}
