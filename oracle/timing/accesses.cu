// SPDX-License-Identifier: Apache-2.0
// One warp, one access: which sectors and wavefronts a pattern of lane addresses takes. Prints a line for each
// launch, in order: kind, bytes of a lane, mask of lanes, 32 offsets in bytes. launches.sh runs it under Nsight Compute
// and puts the counts behind each line.
// metrics: smsp__inst_executed.sum
// metrics: l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
// metrics: l1tex__data_pipe_lsu_wavefronts_mem_lg.sum,l1tex__t_requests_pipe_lsu.sum
// metrics: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
// metrics: l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum,memory_l1_tag_requests_global
// metrics: memory_l1_wavefronts_shared,memory_l1_wavefronts_shared_ideal
// metrics: memory_l2_theoretical_sectors_global,memory_l2_theoretical_sectors_global_ideal
// caches: none
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Offsets {
  uint16_t of[32];  // in elements
  uint32_t mask;
};
extern __shared__ __align__(16) unsigned char shared[];

template <class T>
__device__ void keep(T* out, T v);
template <>
__device__ void keep(uint32_t* out, uint32_t v) {
  if (v == 0x9e3779b9u) *out = v;
}
template <>
__device__ void keep(uint2* out, uint2 v) {
  if (v.x == 0x9e3779b9u && v.y == 7) *out = v;
}
template <>
__device__ void keep(uint4* out, uint4 v) {
  if (v.x == 0x9e3779b9u && v.w == 7) *out = v;
}
__device__ bool mine(const Offsets& o) { return o.mask >> threadIdx.x & 1; }

template <class T>
__global__ void shared_load(const __grid_constant__ Offsets o, T* out) {
  if (mine(o)) keep(out, reinterpret_cast<const T*>(shared)[o.of[threadIdx.x]]);
}
template <class T>
__global__ void shared_store(const __grid_constant__ Offsets o, T v) {
  if (mine(o)) reinterpret_cast<T*>(shared)[o.of[threadIdx.x]] = v;
}
__global__ void shared_atomic(const __grid_constant__ Offsets o) {
  if (mine(o)) atomicAdd(reinterpret_cast<uint32_t*>(shared) + o.of[threadIdx.x], 1);
}
template <class T>
__global__ void global_load(const __grid_constant__ Offsets o, const T* in, T* out) {
  if (mine(o)) keep(out, in[o.of[threadIdx.x]]);
}
template <class T>
__global__ void global_store(const __grid_constant__ Offsets o, T* out, T v) {
  if (mine(o)) out[o.of[threadIdx.x]] = v;
}
__global__ void global_reduce(const __grid_constant__ Offsets o, uint32_t* out) {
  if (mine(o)) atomicAdd(out + o.of[threadIdx.x], 1);
}

static uint32_t state = 12345;
static uint32_t random_below(uint32_t n) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % n;
}

static std::vector<Offsets> patterns(uint32_t elements) {
  std::vector<Offsets> all;
  const auto add = [&](auto&& f, uint32_t mask = ~0u) {
    Offsets o;
    o.mask = mask;
    for (uint32_t l = 0; l < 32; l++) o.of[l] = static_cast<uint16_t>(f(l) % elements);
    all.push_back(o);
  };
  for (uint32_t s : {0u, 1u, 2u, 3u, 4u, 5u, 8u, 9u, 16u, 17u, 32u, 33u}) add([&](uint32_t l) { return l * s; });
  add([](uint32_t l) { return l / 2; });
  add([](uint32_t l) { return l / 4; });
  add([](uint32_t l) { return l % 2; });
  add([](uint32_t l) { return l % 16; });
  add([](uint32_t l) { return l ^ 5; });
  add([](uint32_t l) { return 31 - l; });
  add([](uint32_t l) { return l % 8 * 32 + l / 8; });
  add([](uint32_t l) { return l % 16 * 16 + l / 16; });
  add([](uint32_t l) { return l + 1; });
  add([](uint32_t l) { return l + 5; });
  for (uint32_t mask : {1u, 0xffffu, 0xffff0000u, 0x55555555u, 0xff00ff00u, 0x000000ffu, 0x80000001u}) {
    add([](uint32_t l) { return l; }, mask);
    add([](uint32_t l) { return l * 4; }, mask);
    add([](uint32_t l) { return l * 16; }, mask);
  }
  for (uint32_t range : {8u, 32u, 64u, 128u, 256u, 512u})
    for (int k = 0; k < 3; k++) add([&](uint32_t) { return random_below(range); });
  for (int k = 0; k < 6; k++) add([&](uint32_t) { return random_below(256); }, random_below(1u << 24) * 251u | 1u);
  return all;
}

static void tell(const char* kind, uint32_t bytes, const Offsets& o) {
  printf("%s %u %08x", kind, bytes, o.mask);
  for (uint16_t x : o.of) printf(" %u", x * bytes);
  printf("\n");
}

template <class T>
static void of_width(void* memory) {
  constexpr uint32_t kShared = 16384, kBytes = sizeof(T);
  T* const data = static_cast<T*>(memory);
  for (const Offsets& o : patterns(kShared / kBytes)) {
    tell("shared_load", kBytes, o), shared_load<T><<<1, 32, kShared>>>(o, data);
    tell("shared_store", kBytes, o), shared_store<T><<<1, 32, kShared>>>(o, T{});
    tell("global_load", kBytes, o), global_load<T><<<1, 32>>>(o, data, data);
    tell("global_store", kBytes, o), global_store<T><<<1, 32>>>(o, data, T{});
  }
}

int main() {
  void* memory;
  if (cudaMalloc(&memory, 1 << 20) != cudaSuccess) return 1;
  of_width<uint32_t>(memory);
  of_width<uint2>(memory);
  of_width<uint4>(memory);
  for (const Offsets& o : patterns(4096)) {
    tell("shared_atomic", 4, o), shared_atomic<<<1, 32, 16384>>>(o);
    tell("global_reduce", 4, o), global_reduce<<<1, 32>>>(o, static_cast<uint32_t*>(memory));
  }
  const cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(e));
  return e != cudaSuccess;
}
