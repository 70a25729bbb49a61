// SPDX-License-Identifier: Apache-2.0
// Kernels of one kind of waiting each: rings of asynchronous copies, mbarriers, barriers, clusters and distributed
// shared memory, calls, constants, few warps at DRAM. Prints a line for each launch: kind, one size, another size (what
// they are, the kind says), CTAs, threads, CTAs of a cluster. See README.md.
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum
// metrics: dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sector_hit_rate.pct,lts__t_sectors_op_read.sum
// caches: all
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

namespace cg = cooperative_groups;

#define CHECK(x)                                                                               \
  do {                                                                                         \
    cudaError_t e = (x);                                                                       \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1;    \
  } while (0)

__device__ uint32_t at(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t* b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ void arrive(uint64_t* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ void expect(uint64_t* b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory");
}
__device__ void wait(uint64_t* b, int parity) {
  asm volatile(
      "{\n .reg .pred p;\n AGAIN:\n mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n @!p bra AGAIN;\n}" ::"r"(at(b)),
      "r"(parity)
      : "memory");
}
__device__ void test(uint64_t* b, int parity) {
  asm volatile(
      "{\n .reg .pred p;\n AGAIN:\n mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n @!p bra AGAIN;\n}" ::"r"(at(b)),
      "r"(parity)
      : "memory");
}
__device__ void bulk(void* to, const void* from, int bytes, uint64_t* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)),
               "l"(from), "r"(bytes), "r"(at(b))
               : "memory");
}
__device__ void tile(void* to, const CUtensorMap* map, int x, int y, uint64_t* b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(to)),
               "l"(map), "r"(x), "r"(y), "r"(at(b))
               : "memory");
}
__device__ uint32_t sum_of(const uint4* s, int n) {
  uint32_t v = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v += s[i].x + s[i].y + s[i].z + s[i].w;
  return v;
}

// One block of code fills a ring whose stages all threads read: `tiles` of `bytes`, each CTA its own.
__global__ void bulk_ring(const char* a, uint32_t* out, int bytes, int stages, int tiles) {
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[16];
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) init(full + s, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const char* mine = a + size_t(blockIdx.x) * tiles * bytes;
  auto load = [&](int t) {
    expect(full + t % stages, bytes);
    bulk(ring + t % stages * bytes, mine + size_t(t) * bytes, bytes, full + t % stages);
  };
  if (threadIdx.x == 0)
    for (int t = 0; t < stages && t < tiles; t++) load(t);
  uint32_t v = 0;
  for (int t = 0; t < tiles; t++) {
    wait(full + t % stages, t / stages & 1);
    v += sum_of(reinterpret_cast<uint4*>(ring + t % stages * bytes), bytes / 16);
    __syncthreads();
    if (threadIdx.x == 0 && t + stages < tiles) load(t + stages);
  }
  if (v == 0x9e3779b9u) *out = v;
}
// The same with a warp that only fills, and mbarriers in both directions.
__global__ void bulk_roles(const char* a, uint32_t* out, int bytes, int stages, int tiles) {
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[16], empty[16];
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) init(full + s, 1), init(empty + s, blockDim.x - 32);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const char* mine = a + size_t(blockIdx.x) * tiles * bytes;
  if (threadIdx.x >= blockDim.x - 32) {
    if (threadIdx.x == blockDim.x - 32)
      for (int t = 0; t < tiles; t++) {
        if (t >= stages) wait(empty + t % stages, (t / stages - 1) & 1);
        expect(full + t % stages, bytes);
        bulk(ring + t % stages * bytes, mine + size_t(t) * bytes, bytes, full + t % stages);
      }
    return;
  }
  uint32_t v = 0;
  for (int t = 0; t < tiles; t++) {
    wait(full + t % stages, t / stages & 1);
    v += reinterpret_cast<uint4*>(ring + t % stages * bytes)[threadIdx.x % (bytes / 16)].x;
    arrive(empty + t % stages);
  }
  if (v == 0x9e3779b9u) *out = v;
}
__global__ void tensor_ring(const __grid_constant__ CUtensorMap map, uint32_t* out, int rows, int stages, int tiles) {
  extern __shared__ __align__(128) char ring[];
  __shared__ uint64_t full[16];
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; s++) init(full + s, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int bytes = rows * 256;  // 64 columns of 4 bytes
  auto load = [&](int t) {
    expect(full + t % stages, bytes);
    tile(ring + t % stages * bytes, &map, int(blockIdx.x % 64) * 64, int(blockIdx.x / 64 * tiles + t) * rows, full + t % stages);
  };
  if (threadIdx.x == 0)
    for (int t = 0; t < stages && t < tiles; t++) load(t);
  uint32_t v = 0;
  for (int t = 0; t < tiles; t++) {
    wait(full + t % stages, t / stages & 1);
    v += sum_of(reinterpret_cast<uint4*>(ring + t % stages * bytes), bytes / 16);
    __syncthreads();
    if (threadIdx.x == 0 && t + stages < tiles) load(t + stages);
  }
  if (v == 0x9e3779b9u) *out = v;
}
// cp.async, `each` x 16 bytes of a thread
template <int kStages>
__global__ void groups_ring(const uint4* a, uint32_t* out, int each, int tiles) {
  extern __shared__ __align__(128) uint4 stage[];
  const uint4* mine = a + size_t(blockIdx.x) * tiles * each * blockDim.x;
  const int n = each * int(blockDim.x);
  auto load = [&](int t) {
    if (t < tiles)
      for (int i = threadIdx.x; i < n; i += blockDim.x)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(stage + t % kStages * n + i)), "l"(mine + size_t(t) * n + i) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int t = 0; t < kStages - 1; t++) load(t);
  uint32_t v = 0;
  for (int t = 0; t < tiles; t++) {
    load(t + kStages - 1);
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1) : "memory");
    __syncthreads();
    v += sum_of(stage + t % kStages * n, n);
    __syncthreads();
  }
  if (v == 0x9e3779b9u) *out = v;
}
// Load, store to shared memory, barrier, read: no copy behind the threads' backs.
__global__ void staged(const uint4* a, uint32_t* out, int each, int tiles) {
  extern __shared__ __align__(128) uint4 stage[];
  const int n = each * int(blockDim.x);
  const uint4* mine = a + size_t(blockIdx.x) * tiles * n;
  uint32_t v = 0;
  for (int t = 0; t < tiles; t++) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) stage[i] = mine[size_t(t) * n + i];
    __syncthreads();
    v += sum_of(stage, n);
    __syncthreads();
  }
  if (v == 0x9e3779b9u) *out = v;
}

// The last warp arrives `cycles` later than the others wait.
__global__ void late(uint32_t* out, int cycles, int turns, int how) {
  __shared__ uint64_t b;
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  for (int t = 0; t < turns; t++) {
    if (threadIdx.x >= blockDim.x - 32) {
      long long start = clock64();
      while (clock64() - start < cycles) {}
    }
    arrive(&b);
    if (how == 0)
      wait(&b, t & 1);
    else
      test(&b, t & 1);
    __syncwarp();
  }
  if (turns < 0) *out = 1;
}
__global__ void arrivals(uint32_t* out, int turns) {  // all arrive and wait
  __shared__ uint64_t b;
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  for (int t = 0; t < turns; t++) arrive(&b), wait(&b, t & 1);
  if (turns < 0) *out = 1;
}
__global__ void barriers(uint32_t* out, int turns, int work) {
  __shared__ volatile uint32_t s[1024];
  uint32_t v = threadIdx.x;
  for (int t = 0; t < turns; t++) {
    s[threadIdx.x] = v;
    __syncthreads();
    v += s[threadIdx.x ^ 32];
    for (int i = 0; i < work; i++) v = v * 5 + 1;
    __syncthreads();
  }
  if (v == 0x9e3779b9u) *out = v;
}
__global__ void cluster_barriers(uint32_t* out, int turns) {
  for (int t = 0; t < turns; t++) {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
  if (turns < 0) *out = 1;
}
// Reads of the next CTA's shared memory, all at once, or one behind the other.
__global__ void neighbour(uint32_t* out, int turns, int chained) {
  __shared__ uint32_t s[4096];
  auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = 0;
  cluster.sync();
  const uint32_t* other = cluster.map_shared_rank(s, (cluster.block_rank() + 1) % cluster.num_blocks());
  uint32_t v = 0;
  if (chained)
    for (int t = 0; t < turns; t++) v = other[(threadIdx.x + v) & 4095];
  else
    for (int t = 0; t < turns; t++) {
#pragma unroll
      for (int k = 0; k < 8; k++) v += *const_cast<const volatile uint32_t*>(other + ((threadIdx.x + t * 32 + k * 256) & 4095));
    }
  cluster.sync();
  if (v == 0x9e3779b9u) *out = v;
}
__global__ void neighbour_add(uint32_t* out, int turns) {
  __shared__ uint32_t s[4096];
  auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = 0;
  cluster.sync();
  uint32_t* other = cluster.map_shared_rank(s, (cluster.block_rank() + 1) % cluster.num_blocks());
  for (int t = 0; t < turns; t++) atomicAdd(other + ((threadIdx.x * 5 + t * 37) & 4095), 1u);
  cluster.sync();
  if (s[threadIdx.x] == 0x9e3779b9u) *out = 1;
}

// Accesses of the next CTA's shared memory whose lanes lie `apart` words from each other; of the own one in clusters
// of 1.
enum class Far { Load, Store, Add, AddTold };
template <Far kHow>
__global__ void far(uint32_t* out, int turns, int apart) {
  __shared__ uint32_t s[4096];
  auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i] = 0;
  cluster.sync();
  uint32_t to, v = 0;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(at(s)), "r"((cluster.block_rank() + 1) % cluster.num_blocks()));
  for (int t = 0; t < turns; t++) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const uint32_t where = to + ((threadIdx.x * apart + t * 37 + k * 512) & 4095) * 4;
      uint32_t got = 0;
      if (kHow == Far::Load) asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(where));
      if (kHow == Far::Store) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(where), "r"(t));
      if (kHow == Far::Add) asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(where), "r"(t));
      if (kHow == Far::AddTold) asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;" : "=r"(got) : "r"(where), "r"(t));
      v += got;
    }
  }
  cluster.sync();
  if (s[threadIdx.x] + v == 0x9e3779b9u) *out = 1;
}
enum class Fences { Device, DeviceStored, System, SystemStored, Block };
template <Fences kHow>
__global__ void fences(uint32_t* out, int turns) {
  for (int t = 0; t < turns; t++) {
    if (kHow == Fences::DeviceStored || kHow == Fences::SystemStored)
      reinterpret_cast<volatile uint32_t*>(out)[64 + blockIdx.x * blockDim.x + threadIdx.x] = t;
    if (kHow == Fences::Block)
      __threadfence_block();
    else if (kHow == Fences::System || kHow == Fences::SystemStored)
      __threadfence_system();
    else
      __threadfence();
  }
}
// Loads of shared memory one behind the other, in its own window or by a generic address.
__global__ void own_chain(uint32_t* out, int turns, int generic) {
  __shared__ uint32_t s[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = 0;
  __syncthreads();
  uint32_t v = threadIdx.x;
  const uint64_t base = reinterpret_cast<uint64_t>(s);
  for (int t = 0; t < turns; t++) {
    if (generic)
      asm volatile("ld.u32 %0, [%1];" : "=r"(v) : "l"(base + v * 4));
    else
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at(s) + v * 4));
  }
  if (v == 0x9e3779b9u) *out = v;
}

__device__ __noinline__ uint32_t step(uint32_t v) {
  asm volatile("" ::: "memory");
  return v * 5 + 1;
}
__device__ __noinline__ uint32_t deep(uint32_t v, int n) {
  asm volatile("" ::: "memory");
  return n ? deep(v * 3 + 1, n - 1) + v : v;
}
__device__ uint32_t (*volatile chosen)(uint32_t) = step;
__global__ void calls(uint32_t* out, int turns) {
  uint32_t v = threadIdx.x;
  for (int t = 0; t < turns; t++) v = step(v);
  if (v == 0x9e3779b9u) *out = v;
}
__global__ void calls_by_pointer(uint32_t* out, int turns) {
  uint32_t v = threadIdx.x;
  auto f = chosen;
  for (int t = 0; t < turns; t++) v = f(v);
  if (v == 0x9e3779b9u) *out = v;
}
__global__ void recursive(uint32_t* out, int turns, int depth) {
  uint32_t v = threadIdx.x;
  for (int t = 0; t < turns; t++) v = deep(v, depth);
  if (v == 0x9e3779b9u) *out = v;
}
__constant__ uint32_t constants[16384];
__global__ void constant_chain(uint32_t* out, int turns, int mask) {
  uint32_t v = 0;
  for (int t = 0; t < turns; t++) v = constants[(v + t * 64) & mask];
  if (v == 0x9e3779b9u) *out = v;
}
__global__ void constant_apart(uint32_t* out, int turns, int ways) {  // lanes read `ways` places
  uint32_t v = 0;
  for (int t = 0; t < turns; t++) v += constants[((threadIdx.x % ways) * 64 + t + v) & 16383];
  if (v == 0x9e3779b9u) *out = v;
}
// A few warps, `kMany` loads of 16 bytes at a time, from DRAM.
template <int kMany>
__global__ void few(const uint4* a, uint32_t* out, int turns) {
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  const uint4* mine = a + size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  uint32_t v = 0;
  for (int t = 0; t < turns; t++) {
    uint4 got[kMany];
#pragma unroll
    for (int k = 0; k < kMany; k++) got[k] = mine[(size_t(t) * kMany + k + (v & 1)) * threads];
#pragma unroll
    for (int k = 0; k < kMany; k++) v += got[k].x + got[k].y;  // zeros
  }
  if (v == 0x9e3779b9u) *out = v;
}
__global__ void spin(volatile uint32_t* flag, uint32_t* out, int cycles) {  // CTA 0 sets it late
  if (blockIdx.x == 0) {
    long long start = clock64();
    while (clock64() - start < cycles) {}
    if (threadIdx.x == 0) *flag = 1;
  } else {
    while (*flag == 0) {}
  }
  if (cycles < 0) *out = 1;
}

static void line(const char* kind, long a, long b, int ctas, int threads, int cluster = 1) {
  printf("%s %ld %ld %d %d %d\n", kind, a, b, ctas, threads, cluster);
}

int main() {
  const size_t room = size_t(1) << 30;
  char* a;
  uint32_t* out;
  CHECK(cudaMalloc(&a, room));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMemset(a, 0, room));
  CHECK(cudaMemset(out, 0, 1 << 20));
  for (auto* f : {bulk_ring, bulk_roles}) CHECK(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  CHECK(cudaFuncSetAttribute(tensor_ring, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  const int kTiles = 32;
  for (int ctas : {1, 132, 264})
    for (int bytes : {1024, 4096, 16384})
      for (int stages : {1, 2, 4, 8}) {
        if (bytes * stages > (ctas > 132 ? 100 << 10 : 200 << 10)) continue;
        bulk_ring<<<ctas, 128, bytes * stages>>>(a, out, bytes, stages, kTiles), line("bulk_ring", bytes, stages, ctas, 128);
        bulk_roles<<<ctas, 160, bytes * stages>>>(a, out, bytes, stages, kTiles), line("bulk_roles", bytes, stages, ctas, 160);
      }
  void* encode;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found));
  for (int ctas : {1, 132, 264})
    for (int rows : {8, 32, 64})
      for (int stages : {1, 2, 4}) {
        CUtensorMap map;
        cuuint64_t size[2] = {4096, 65536 / 4}, pitch[1] = {16384};
        cuuint32_t box[2] = {64, cuuint32_t(rows)}, one[2] = {1, 1};
        auto r = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
            &map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, a, size, pitch, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE,
            CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        if (r != CUDA_SUCCESS) return fprintf(stderr, "cuTensorMapEncodeTiled: %d\n", r), 1;
        tensor_ring<<<ctas, 128, rows * 256 * stages>>>(map, out, rows, stages, kTiles), line("tensor_ring", rows, stages, ctas, 128);
      }
  auto a4 = reinterpret_cast<uint4*>(a);
  for (int ctas : {1, 132, 528})
    for (int threads : {128, 256})
      for (int each : {1, 4}) {
        groups_ring<1><<<ctas, threads, threads * each * 16>>>(a4, out, each, kTiles), line("groups_ring", each, 1, ctas, threads);
        groups_ring<2><<<ctas, threads, threads * each * 32>>>(a4, out, each, kTiles), line("groups_ring", each, 2, ctas, threads);
        if (threads * each * 64 <= 48 << 10)
          groups_ring<4><<<ctas, threads, threads * each * 64>>>(a4, out, each, kTiles), line("groups_ring", each, 4, ctas, threads);
        staged<<<ctas, threads, threads * each * 16>>>(a4, out, each, kTiles), line("staged", each, 1, ctas, threads);
      }
  for (int cycles : {0, 100, 300, 1000, 3000, 10000, 30000, 100000, 1000000})
    for (int threads : {64, 256}) {
      late<<<1, threads>>>(out, cycles, 4, 0), line("late_try", cycles, 4, 1, threads);
      late<<<1, threads>>>(out, cycles, 4, 1), line("late_test", cycles, 4, 1, threads);
    }
  for (int threads : {32, 128, 512, 1024})
    for (int turns : {4, 64}) {
      arrivals<<<132, threads>>>(out, turns), line("arrivals", turns, 0, 132, threads);
      for (int work : {0, 32}) barriers<<<132, threads>>>(out, turns, work), line("barriers", turns, work, 132, threads);
    }
  for (int size : {1, 2, 4, 8})
    for (int ctas : {8, 128})
      for (int threads : {128, 512}) {
        cudaLaunchConfig_t c{};
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = size, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        c.gridDim = ctas, c.blockDim = threads, c.attrs = &attribute, c.numAttrs = 1;
        CHECK(cudaLaunchKernelEx(&c, cluster_barriers, out, 16)); line("cluster_barriers", 16, 0, ctas, threads, size);
        CHECK(cudaLaunchKernelEx(&c, neighbour, out, 64, 1)); line("neighbour_chain", 64, 0, ctas, threads, size);
        CHECK(cudaLaunchKernelEx(&c, neighbour, out, 64, 0)); line("neighbour", 64, 0, ctas, threads, size);
        CHECK(cudaLaunchKernelEx(&c, neighbour_add, out, 64)); line("neighbour_add", 64, 0, ctas, threads, size);
      }
  for (int size : {1, 2, 8})
    for (int ctas : {8, 64})
      for (int apart : {1, 2, 5, 8, 32}) {
        cudaLaunchConfig_t c{};
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = size, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        c.gridDim = ctas, c.blockDim = 256, c.attrs = &attribute, c.numAttrs = 1;
        CHECK(cudaLaunchKernelEx(&c, far<Far::Load>, out, 32, apart)); line("far_load", 32, apart, ctas, 256, size);
        CHECK(cudaLaunchKernelEx(&c, far<Far::Store>, out, 32, apart)); line("far_store", 32, apart, ctas, 256, size);
        CHECK(cudaLaunchKernelEx(&c, far<Far::Add>, out, 32, apart)); line("far_add", 32, apart, ctas, 256, size);
        CHECK(cudaLaunchKernelEx(&c, far<Far::AddTold>, out, 32, apart)); line("far_add_told", 32, apart, ctas, 256, size);
      }
  for (int ctas : {1, 132})
    for (int threads : {32, 256}) {
      fences<Fences::Device><<<ctas, threads>>>(out, 16), line("fence_device", 16, 0, ctas, threads);
      fences<Fences::DeviceStored><<<ctas, threads>>>(out, 16), line("fence_device", 16, 1, ctas, threads);
      fences<Fences::System><<<ctas, threads>>>(out, 16), line("fence_system", 16, 0, ctas, threads);
      fences<Fences::SystemStored><<<ctas, threads>>>(out, 16), line("fence_system", 16, 1, ctas, threads);
      fences<Fences::Block><<<ctas, threads>>>(out, 16), line("fence_block", 16, 0, ctas, threads);
    }
  for (int turns : {16, 256})
    for (int generic : {0, 1}) own_chain<<<132, 128>>>(out, turns, generic), line("own_chain", turns, generic, 132, 128);
  for (int turns : {1, 16, 256})
    for (int threads : {32, 128, 1024}) {
      calls<<<132, threads>>>(out, turns), line("calls", turns, 0, 132, threads);
      calls_by_pointer<<<132, threads>>>(out, turns), line("calls_by_pointer", turns, 0, 132, threads);
      if (turns <= 16)
        for (int depth : {4, 16}) recursive<<<132, threads>>>(out, turns, depth), line("recursive", turns, depth, 132, threads);
    }
  for (int words : {128, 512, 4096, 16384})
    for (int turns : {16, 256})
      constant_chain<<<132, 128>>>(out, turns, words - 1), line("constant_chain", turns, words, 132, 128);
  for (int ways : {1, 2, 8, 32})
    for (int turns : {16, 64}) constant_apart<<<132, 128>>>(out, turns, ways), line("constant_apart", turns, ways, 132, 128);
  for (int ctas : {1, 33, 132, 264, 528})
    for (int threads : {32, 128, 512}) {
      few<1><<<ctas, threads>>>(a4, out, 32), line("few", 32, 1, ctas, threads);
      few<2><<<ctas, threads>>>(a4, out, 16), line("few", 16, 2, ctas, threads);
      few<4><<<ctas, threads>>>(a4, out, 8), line("few", 8, 4, ctas, threads);
      few<8><<<ctas, threads>>>(a4, out, 4), line("few", 4, 8, ctas, threads);
    }
  for (int cycles : {1000, 10000, 100000})
    for (int threads : {32, 256}) {
      CHECK(cudaMemset(out + 1, 0, 4));
      spin<<<132, threads>>>(out + 1, out, cycles), line("spin", cycles, 0, 132, threads);
    }
  CHECK(cudaDeviceSynchronize());
  return 0;
}
