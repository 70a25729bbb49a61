// SPDX-License-Identifier: Apache-2.0
// 10000 bulk tensor copies of random tensor maps, drawn from their number: rank, type, interleave, swizzle, fill,
// sizes, strides, box, element strides, im2col corners, coordinates inside and out, loads, stores and reductions. Each
// line is 100 of them: a hash of what the driver answered and of all shared memory and all tensors afterwards.
//   --each FROM TO   instead one line for each copy; with a file name, its memory goes there
#include <cuda.h>

#include <algorithm>
#include <string>

#include "program.h"
using namespace program;

constexpr uint32_t kShared = 20 * 1024, kBox = 16 * 1024, kRegion = 32 * 1024, kBlock = 100, kCopies = 10000;

enum Way { Load, Im2col, Store, Im2colStore, Reduce, Im2colReduce };
struct Copy {
  CUtensorMap map;
  int c[5];
  unsigned short o[3];
  int rank, way, op;
  uint32_t start, bytes, seed, encoded;
};

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

#define AT1 "r"(c[0])
#define AT2 AT1, "r"(c[1])
#define AT3 AT2, "r"(c[2])
#define AT4 AT3, "r"(c[3])
#define AT5 AT4, "r"(c[4])

__device__ void load(const Copy& x, uint32_t to, uint32_t bar) {
#define LOAD(dim, mode, list, ...)                                                                                                         \
  asm volatile("cp.async.bulk.tensor." dim ".shared::cluster.global." mode ".mbarrier::complete_tx::bytes [%0], [%1, {" list ";" ::"r"(to), \
               "l"(&x.map), "r"(bar), __VA_ARGS__                                                                                          \
               : "memory")
  const int* c = x.c;
  if (x.way == Im2col) {
    if (x.rank == 3) LOAD("3d", "im2col", "%3, %4, %5}], [%2], {%6}", AT3, "h"(x.o[0]));
    if (x.rank == 4) LOAD("4d", "im2col", "%3, %4, %5, %6}], [%2], {%7, %8}", AT4, "h"(x.o[0]), "h"(x.o[1]));
    if (x.rank == 5) LOAD("5d", "im2col", "%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}", AT5, "h"(x.o[0]), "h"(x.o[1]), "h"(x.o[2]));
    return;
  }
  if (x.rank == 1) LOAD("1d", "tile", "%3}], [%2]", AT1);
  if (x.rank == 2) LOAD("2d", "tile", "%3, %4}], [%2]", AT2);
  if (x.rank == 3) LOAD("3d", "tile", "%3, %4, %5}], [%2]", AT3);
  if (x.rank == 4) LOAD("4d", "tile", "%3, %4, %5, %6}], [%2]", AT4);
  if (x.rank == 5) LOAD("5d", "tile", "%3, %4, %5, %6, %7}], [%2]", AT5);
}

#define STORE(what, dim, mode, list, ...) \
  asm volatile("cp" what ".async.bulk.tensor." dim ".global.shared::cta" mode ".bulk_group [%0, {" list "}], [%1];" ::"l"(&x.map), "r"(from), __VA_ARGS__ : "memory")
#define STORE_IM2COL(what, mode)                                         \
  if (x.rank == 3) STORE(what, "3d", mode, "%2, %3, %4", AT3);         \
  if (x.rank == 4) STORE(what, "4d", mode, "%2, %3, %4, %5", AT4);     \
  if (x.rank == 5) STORE(what, "5d", mode, "%2, %3, %4, %5, %6", AT5);
#define STORE_TILE(what, mode)                       \
  if (x.rank == 1) STORE(what, "1d", mode, "%2", AT1);     \
  if (x.rank == 2) STORE(what, "2d", mode, "%2, %3", AT2); \
  STORE_IM2COL(what, mode)

__device__ void store(const Copy& x, uint32_t from) {
  const int* c = x.c;
  if (x.way == Store) { STORE_TILE("", ".tile"); }
  if (x.way == Im2colStore) { STORE_IM2COL("", ".im2col_no_offs"); }
#define REDUCE(number, name)                                                           \
  if (x.op == number && x.way == Reduce) { STORE_TILE(".reduce", "." name ".tile"); } \
  if (x.op == number && x.way == Im2colReduce) { STORE_IM2COL(".reduce", "." name ".im2col_no_offs"); }
  REDUCE(0, "add") REDUCE(1, "min") REDUCE(2, "max") REDUCE(3, "inc") REDUCE(4, "dec") REDUCE(5, "and") REDUCE(6, "or") REDUCE(7, "xor")
}

// Adds to sums[0] what shared memory holds in the end, to sums[1] what the tensor's region of memory holds.
__global__ void run(const Copy* copies, uint32_t* regions, unsigned long long* sums, uint32_t* dump) {
  extern __shared__ __align__(1024) uint32_t tile[];
  __shared__ uint64_t bar;
  const Copy& x = copies[blockIdx.x];
  const uint32_t t = threadIdx.x, base = shared(tile) + x.start;
  uint32_t* region = regions + blockIdx.x * (kRegion / 4);
  if (x.encoded) return;
  for (uint32_t k = t; k < kShared / 4; k += blockDim.x) tile[k] = mix(k * 77 + x.seed);
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const bool loads = x.way == Load || x.way == Im2col;
  if (t == 0) {
    if (loads) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&bar)), "r"(x.bytes) : "memory");
      load(x, base, shared(&bar));
    } else {
      store(x, base);
      asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
  }
  if (loads) {
    uint32_t done = 0;
    for (int tries = 0; !done && tries < 4000; ++tries)
      asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(shared(&bar)) : "memory");
    if (!done) sums[blockIdx.x * 3 + 2] = 1;
  }
  __syncthreads();
  unsigned long long of_tile = 0, of_region = 0;
  for (uint32_t k = t; k < kShared / 4; k += blockDim.x) {
    of_tile += mix(tile[k] + mix(k));
    if (dump) dump[k] = tile[k];
  }
  for (uint32_t k = t; k < kRegion / 4; k += blockDim.x) of_region += mix(region[k] + mix(k));
  atomicAdd(&sums[blockIdx.x * 3], of_tile);
  atomicAdd(&sums[blockIdx.x * 3 + 1], of_region);
}

__global__ void fill(const Copy* copies, uint32_t* regions) {
  for (uint32_t k = threadIdx.x; k < kRegion / 4; k += blockDim.x)
    regions[blockIdx.x * (kRegion / 4) + k] = mix(k * 31 + copies[blockIdx.x].seed + 1);
}

struct Random {
  uint32_t state;
  uint32_t next() { return mix(state += 0x9e3779b9u); }
  int to(int most) { return int(next() % uint32_t(most + 1)); }  // 0 to most
  int between(int least, int most) { return least + to(most - least); }
  bool one_in(int n) { return to(n - 1) == 0; }
};

struct Map {
  int type, rank, interleave = 0, swizzle, fill = 0;
  size_t offset = 0;
  cuuint64_t dims[5], strides[4] = {};
  cuuint32_t box[5], steps[5];
  int lower[3] = {}, upper[3] = {};
  cuuint32_t channels = 0, pixels = 0;
};

constexpr int kSizes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

bool is_float(int type) { return type == 6 || type == 7 || type >= 8; }

// Which reductions of a type an H200 does not take for illegal instructions.
bool reduces(int type, int op) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT32: return true;
    case CU_TENSOR_MAP_DATA_TYPE_INT32: return op != 3 && op != 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64: return op != 3 && op != 4;
    case CU_TENSOR_MAP_DATA_TYPE_INT64: return op == 1 || op == 2;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return op < 3;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return op == 0;
    default: return false;
  }
}

uint32_t rows(const Map& m, bool im2col) {
  uint32_t n = 1;
  if (im2col) return m.pixels;
  for (int d = m.interleave ? 0 : 1; d < m.rank; ++d)
    if (!m.interleave || d != m.rank - 2) n *= (m.box[d] + m.steps[d] - 1) / m.steps[d];
  return n;
}

// One parameter beyond its limits, sometimes.
void spoil(Map& m, Random& r) {
  const int d = r.to(m.rank - 1);
  switch (r.to(9)) {
    case 0: m.box[d] = 0; break;
    case 1: m.box[d] = 257; break;
    case 2: m.steps[d] = 0; break;
    case 3: m.steps[d] = 9; break;
    case 4: m.offset = 8; break;
    case 5: m.strides[d % 4] += 8; break;
    case 6: m.dims[d] = 0; break;
    case 7: m.lower[0] = 40000; break;
    case 8: m.pixels = 1025; break;
    default: m.channels = 300;
  }
}

Map draw(Copy& x, Random& r) {
  Map m;
  const int ways = r.to(19);
  x.way = ways < 10 ? Load : ways < 14 ? Store : ways < 16 ? Reduce : ways < 18 ? Im2col : ways < 19 ? Im2colStore : Im2colReduce;
  const bool im2col = x.way == Im2col || x.way == Im2colStore || x.way == Im2colReduce, loads = x.way == Load || x.way == Im2col;
  do {
    m.type = r.to(12), x.op = r.to(7);
  } while ((x.way == Reduce || x.way == Im2colReduce) && !reduces(m.type, x.op));
  x.rank = m.rank = im2col ? r.between(3, 5) : r.between(1, 5);
  if (m.rank >= 3 && r.one_in(3)) m.interleave = r.between(1, 2);
  m.swizzle = r.to(3);
  m.fill = is_float(m.type) && r.one_in(2);
  const int element = kSizes[m.type], unit = m.interleave == 2 ? 32 : 16;
  const int most[6][5] = {{500}, {200, 40}, {100, 12, 9}, {80, 7, 6, 5}, {64, 5, 4, 4, 3}, {6, 4, 4, 3, 2}};
  for (int d = 0; d < m.rank; ++d) m.dims[d] = r.between(1, most[m.interleave ? 5 : m.rank - 1][d]);
  if (!m.interleave) m.dims[0] = std::max<cuuint64_t>(m.dims[0] / element, 1);
  cuuint64_t stride = m.interleave ? m.dims[0] * unit : (m.dims[0] * element + 15) / 16 * 16;
  stride += unit * r.to(2);
  for (int d = 1; d < m.rank; ++d) {
    m.strides[d - 1] = stride;
    stride = stride * m.dims[d] + unit * r.to(2);
  }
  const int span = m.swizzle == 0 ? 256 : 16 << m.swizzle;
  m.box[0] = std::min(16 * r.between(1, m.interleave ? 2 : span / 16) / element, 256);
  for (int d = 1; d < m.rank; ++d) m.box[d] = r.between(1, 8);
  const bool steps = r.one_in(4);
  for (int d = 0; d < m.rank; ++d) m.steps[d] = steps ? r.one_in(4) ? r.between(1, 8) : r.between(1, 3) : 1;
  const int first = m.interleave ? 0 : 1, corners = im2col ? m.rank - 2 : 0;  // the dimensions of an image begin there
  if (im2col) m.channels = m.box[0], m.pixels = r.between(1, 64);
  for (int k = 0; k < corners; ++k) {
    m.lower[k] = r.between(loads ? -2 : 0, 2), m.upper[k] = r.between(-2, loads ? 2 : 0);
    const int smaller = int(std::min(m.dims[k], m.dims[k + 1]));
    if (smaller + m.upper[k] <= m.lower[k]) m.lower[k] = m.upper[k] = 0;
  }
  const uint32_t row = m.interleave ? unit : m.box[0] * element;
  const uint32_t pitch = m.interleave || !m.swizzle ? row : span;
  while (rows(m, im2col) * pitch > kBox) {
    if (im2col) m.pixels /= 2;
    else *std::max_element(m.box + 1, m.box + m.rank) -= 1;
  }
  for (int d = 0; d < m.rank; ++d) {
    const int size = int(m.dims[d]), box = im2col ? 4 : int(m.box[d]);
    x.c[d] = r.between(loads ? -box - 1 : 0, size + 1);
    if (loads && r.one_in(40)) x.c[d] = r.one_in(2) ? 1 << 20 : -(1 << 20);
    if (d >= first && d < first + corners) x.c[d] = r.between(m.lower[d - first], size - 1 + m.upper[d - first]);
  }
  if (!m.interleave) x.c[0] = x.c[0] * element / 16 * 16 / element;
  for (auto& o : x.o) o = (unsigned short)r.to(3);
  x.start = 128 * r.to(7);
  x.bytes = rows(m, im2col) * row;
  if (r.one_in(25)) spoil(m, r);
  return m;
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

Copy make(uint32_t number, uint32_t* region, bool tell) {
  static const auto tiled = entry<EncodeTiled>("cuTensorMapEncodeTiled");
  static const auto im2col = entry<EncodeIm2col>("cuTensorMapEncodeIm2col");
  Copy x = {};
  Random r{number * 1000003u + 17};
  const Map m = draw(x, r);
  x.seed = mix(number);
  void* at = reinterpret_cast<char*>(region) + m.offset;
  const auto type = CUtensorMapDataType(m.type);
  const auto interleave = CUtensorMapInterleave(m.interleave);
  const auto swizzle = CUtensorMapSwizzle(m.swizzle);
  const auto l2 = CUtensorMapL2promotion(r.to(3));
  const auto fill = CUtensorMapFloatOOBfill(m.fill);
  if (x.way == Im2col || x.way == Im2colStore || x.way == Im2colReduce)
    x.encoded = im2col(&x.map, type, m.rank, at, m.dims, m.strides, m.lower, m.upper, m.channels, m.pixels, m.steps, interleave, swizzle, l2, fill);
  else
    x.encoded = tiled(&x.map, type, m.rank, at, m.dims, m.strides, m.box, m.steps, interleave, swizzle, l2, fill);
  if (tell) {
    printf("%u: way %d type %d op %d interleave %d swizzle %d fill %d start %u bytes %u |", number, x.way, m.type, x.op, m.interleave, m.swizzle, m.fill, x.start, x.bytes);
    for (int d = 0; d < m.rank; ++d) printf(" %llu/%llu[%u:%u]@%d", (unsigned long long)m.dims[d], d ? (unsigned long long)m.strides[d - 1] : 0, m.box[d], m.steps[d], x.c[d]);
    if (m.pixels) printf(" channels %u pixels %u", m.channels, m.pixels);
    for (int d = 0; m.pixels && d < m.rank - 2; ++d) printf(" (%d %d)+%u", m.lower[d], m.upper[d], x.o[d]);
    printf(" -> %u", x.encoded);
    fflush(stdout);
  }
  return x;
}

int main(int argc, char** argv) {
  const bool each = argc > 3 && !std::strcmp(argv[1], "--each");
  const uint32_t block = each ? 1 : kBlock, from = each ? atoi(argv[2]) : 0, to = each ? atoi(argv[3]) : kCopies;
  const Device<uint32_t> regions(kBlock * (kRegion / 4)), dump(kShared / 4);
  const Device<Copy> copies(kBlock);
  const Device<unsigned long long> sums(kBlock * 3);
  FILE* file = argc > 4 ? std::fopen(argv[4], "wb") : nullptr;
  MUST(cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  for (uint32_t first = from; first < to; first += block) {
    std::vector<Copy> list;
    for (uint32_t k = 0; k < block; ++k) list.push_back(make(first + k, regions + k * (kRegion / 4), each));
    MUST(cudaMemcpy(copies, list.data(), list.size() * sizeof(Copy), cudaMemcpyHostToDevice));
    MUST(cudaMemset(sums, 0, sums.size() * 8));
    fill<<<block, 128>>>(copies, regions);
    run<<<block, 128, kShared>>>(copies, regions, sums, each ? static_cast<uint32_t*>(dump) : nullptr);
    MUST_RUN();
    std::vector<unsigned long long> got = sums.copy();
    got.resize(block * 3);
    if (each) {
      printf(" shared %016llx tensor %016llx late %llu\n", got[0], got[1], got[2]);
      if (file) {
        const auto a = dump.copy(), b = regions.copy();
        std::fwrite(a.data(), 4, a.size(), file);
        std::fwrite(b.data(), 4, kRegion / 4, file);
      }
      continue;
    }
    int taken = 0;
    uint64_t late = 0;
    for (uint32_t k = 0; k < block; ++k) taken += !list[k].encoded, late += got[k * 3 + 2], got.push_back(list[k].encoded);
    printf("copies %4u to %4u: %3d maps  %016llx\n", first, first + block - 1, taken, (unsigned long long)hash(got));
    if (late) expect("copies that never completed", false);
  }
  if (file) std::fclose(file);
  return each ? 0 : finish();
}
