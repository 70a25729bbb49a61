// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads take turns, and what else a program's text decides: code that caches do not hold, registers
// that are read twice, compare-and-swap that fails or succeeds, locks, chains of flags, columns. Prints a line for each
// launch: kind, one size, another size (what they are, the kind says), CTAs, threads. See README.md.
// usage: turns [LEAST]: with LEAST, leaves out code of more than 64 KiB and grids of more than 132 CTAs
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum,lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct
// metrics: lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_op_atom.sum
// metrics: smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio
// metrics: smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio
// caches: all
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CHECK(x)                                                                               \
  do {                                                                                         \
    cudaError_t e = (x);                                                                       \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1;    \
  } while (0)

__device__ void fma4(float (&v)[4], float a, float b) {
#pragma unroll
  for (int k = 0; k < 4; k++) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v[k]) : "f"(a), "f"(b));
}
// Straight code of so many KiB, `turns` times.
template <int KiB>
__global__ void code(float* out, int turns, float a, float b) {
  float v[4] = {a, b, a + 1, b + 1};
#pragma unroll 1
  for (int t = 0; t < turns; t++) {
#pragma unroll
    for (int k = 0; k < KiB * 16; k++) fma4(v, a, b);
  }
  if (v[0] + v[1] + v[2] + v[3] == 12345.f) *out = 1;
}
// What is read twice, and from which registers: `Same` says it below.
template <int Same>
__global__ void registers(float* out, int turns, float a) {
  float v[8];
#pragma unroll
  for (int k = 0; k < 8; k++) v[k] = a + k;
#pragma unroll 1
  for (int t = 0; t < turns; t++) {
#pragma unroll
    for (int r = 0; r < 8; r++)
#pragma unroll
      for (int k = 0; k < 8; k++) {
        if (Same == 0) asm volatile("mul.rn.f32 %0, %0, %0;" : "+f"(v[k]));
        if (Same == 1) asm volatile("add.rn.f32 %0, %0, %0;" : "+f"(v[k]));
        if (Same == 2) asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(v[k]) : "f"(a));
        if (Same == 3) asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(v[k]) : "f"(a));
        if (Same == 4) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v[k]) : "f"(a), "f"(v[(k + 2) % 8]));
        if (Same == 5) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v[k]) : "f"(v[(k + 4) % 8]), "f"(v[(k + 2) % 8]));
      }
  }
  float s = 0;
  for (float x : v) s += x;
  if (s == 12345.f) *out = 1;
}
// The loop of a fractal: nothing but arithmetic, ended by its own results.
__global__ void escapes(int* out, int turns, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float cx = -0.1f + (i & 255) * step, cy = 0.1f + (i >> 8) * step;
  float x = 0, y = 0;
  int n = 0;
  for (; n < turns && x * x + y * y < 4.f; n++) {
    const float t = x * x - y * y + cx;
    y = 2 * x * y + cy, x = t;
  }
  out[i] = n;
}

// Lanes come to 32 / `ways` words of shared memory, `ways` to each.
template <int How>  // 0: add, 1: a swap that fails, 2: one that may succeed, 3: exchange
__global__ void shared_atomics(uint32_t* out, int turns, int ways) {
  __shared__ uint32_t s[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) s[k] = 0;
  __syncthreads();
  uint32_t* mine = s + (threadIdx.x % 32) / ways + threadIdx.x / 32 * 32;
  uint32_t v = 0;
  for (int t = 0; t < turns; t++) {
    if (How == 0) v += atomicAdd(mine, 1 + (v & 1));
    if (How == 1) v += atomicCAS(mine, 7 + (v & 1), 9);
    if (How == 2) v += atomicCAS(mine, t, t + 1 + (v == 77));
    if (How == 3) v += atomicExch(mine, t + (v == 77));
  }
  if (v == 0x9e3779b9u) *out = v;
}
// Each thread wins once: one word for the block.
__global__ void shared_swap_add(uint32_t* out, int each) {
  __shared__ uint32_t word;
  if (threadIdx.x == 0) word = 0;
  __syncthreads();
  for (int k = 0; k < each; k++) {
    uint32_t seen = word, before;
    do before = seen, seen = atomicCAS(&word, before, before + 3);
    while (seen != before);
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = word;
}
__device__ uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}
template <int How>  // 0: add, 1: a swap that fails, 2: exchange
__global__ void device_atomics(uint32_t* a, uint32_t mask, uint32_t* out, int turns) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t v = 0;
  for (int t = 0; t < turns; t++) {
    uint32_t* p = a + (mix(i + t * 7919) & mask);
    if (How == 0) v += atomicAdd(p, 0);
    if (How == 1) v += atomicCAS(p, 7 + (v & 8), 9);
    if (How == 2) v += atomicExch(p, 0);
  }
  if (v == 0x9e3779b9u) *out = v;
}

__global__ void lock(uint32_t* word, uint32_t* value, int each) {  // thread 0 of each block
  if (threadIdx.x) return;
  for (int k = 0; k < each; k++) {
    while (atomicCAS(word, 0, 1)) {}
    __threadfence();
    *reinterpret_cast<volatile uint32_t*>(value) += 1;
    __threadfence();
    atomicExch(word, 0);
  }
}
__global__ void lock_of_all(uint32_t* word, uint32_t* value) {  // every thread
  bool done = false;
  while (!done) {
    if (atomicCAS(word, 0, 1) == 0) {
      __threadfence();
      *reinterpret_cast<volatile uint32_t*>(value) += 1;
      __threadfence();
      atomicExch(word, 0);
      done = true;
    }
  }
}
__global__ void tickets(uint32_t* next, uint32_t* turn, uint32_t* value, int each) {
  if (threadIdx.x) return;
  for (int k = 0; k < each; k++) {
    const uint32_t mine = atomicAdd(next, 1);
    while (*reinterpret_cast<volatile uint32_t*>(turn) != mine) {}
    *reinterpret_cast<volatile uint32_t*>(value) += 1;
    __threadfence();
    atomicExch(turn, mine + 1);
  }
}
__global__ void queue(uint32_t* next, uint32_t* out, uint32_t jobs, int work) {  // CTAs take jobs until there are none
  __shared__ uint32_t job;
  float v = threadIdx.x;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) job = atomicAdd(next, 1);
    __syncthreads();
    if (job >= jobs) break;
    for (int k = 0; k < work * int(1 + job % 4); k++) v = v * 0.999f + job;
  }
  if (v == 12345.f) *out = 1;
}
// CTA k waits for what CTA k - 1 has summed up.
__global__ void chain(uint32_t* flags, uint32_t* sums, int work) {
  float v = threadIdx.x;
  for (int k = 0; k < work; k++) v = v * 0.999f + 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t before = 0;
    if (blockIdx.x) {
      uint32_t there;
      do asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(there) : "l"(flags + blockIdx.x - 1) : "memory");
      while (!there);
      before = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = before + 1 + (v == 12345.f);
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(flags + blockIdx.x), "r"(1) : "memory");
  }
}

// Each lane a row: threads of a warp read, write, or both, a column; the next warp the next column.
template <class T, int How>  // 0: reads, 1: writes, 2: copies
__global__ void columns(const T* a, T* b, uint32_t* out, int pitch, int width) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const size_t at = size_t(warp / width * 32 + lane) * pitch / sizeof(T) + warp % width;
  T v = How == 1 ? T(warp) : a[at];
  if (How) b[at] = v;
  else if (v == T(77)) *out = 1;
}

static void line(const char* kind, long a, long b, int ctas, int threads) {
  printf("%s %ld %ld %d %d\n", kind, a, b, ctas, threads);
}
template <int KiB>
static void codes(float* out) {
  for (int turns : {1, 2, 8})
    for (int ctas : {1, 132})
      for (int threads : {32, 128, 512}) code<KiB><<<ctas, threads>>>(out, turns, 0.5f, 1), line("code", KiB, turns, ctas, threads);
}
template <class T>
static void columns_of(const char* a, char* b, uint32_t* out) {
  const int size = sizeof(T);
  for (int pitch : {2048, 2048 + 128, 65536})
    for (int rows : {256, 2048}) {
      const int width = 2048 / size, ctas = width * rows / 32 / 8;
      columns<T, 0><<<ctas, 256>>>((const T*)a, (T*)b, out, pitch, width), line("columns_read", size, pitch, ctas, 256);
      columns<T, 1><<<ctas, 256>>>((const T*)a, (T*)b, out, pitch, width), line("columns_write", size, pitch, ctas, 256);
      columns<T, 2><<<ctas, 256>>>((const T*)a, (T*)b, out, pitch, width), line("columns_copy", size, pitch, ctas, 256);
    }
}

int main(int argc, char**) {
  const bool all = argc < 2;
  const size_t room = size_t(256) << 20;
  char* a;
  uint32_t* out;
  CHECK(cudaMalloc(&a, 2 * room));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMemset(a, 0, 2 * room));
  CHECK(cudaMemset(out, 0, 1 << 20));
  auto of = reinterpret_cast<float*>(out);
  auto words = reinterpret_cast<uint32_t*>(a);
  codes<4>(of), codes<16>(of), codes<32>(of), codes<64>(of);
  if (all) codes<96>(of), codes<128>(of), codes<192>(of), codes<256>(of), codes<512>(of);
  for (int threads : {128, 512, 1024}) {
    registers<0><<<132, threads>>>(of, 64, 0.5f), line("registers", 0, 64, 132, threads);
    registers<1><<<132, threads>>>(of, 64, 0.5f), line("registers", 1, 64, 132, threads);
    registers<2><<<132, threads>>>(of, 64, 0.5f), line("registers", 2, 64, 132, threads);
    registers<3><<<132, threads>>>(of, 64, 0.5f), line("registers", 3, 64, 132, threads);
    registers<4><<<132, threads>>>(of, 64, 0.5f), line("registers", 4, 64, 132, threads);
    registers<5><<<132, threads>>>(of, 64, 0.5f), line("registers", 5, 64, 132, threads);
    for (int turns : {16, 256}) escapes<<<528, threads>>>(reinterpret_cast<int*>(a), turns, 0.0001f), line("escapes", turns, 0, 528, threads);
  }
  CHECK(cudaMemset(a, 0, room));
  for (int threads : {32, 128, 512})
    for (int ways : {1, 2, 4, 8, 16, 32}) {
      shared_atomics<0><<<132, threads>>>(out, 64, ways), line("shared_add", ways, 64, 132, threads);
      shared_atomics<1><<<132, threads>>>(out, 64, ways), line("shared_swap", ways, 64, 132, threads);
      shared_atomics<2><<<132, threads>>>(out, 64, ways), line("shared_swap_wins", ways, 64, 132, threads);
      shared_atomics<3><<<132, threads>>>(out, 64, ways), line("shared_exchange", ways, 64, 132, threads);
    }
  for (int threads : {1, 32, 64, 128, 512})
    for (int each : {1, 8}) shared_swap_add<<<132, threads>>>(out, each), line("shared_swap_add", each, 0, 132, threads);
  for (int ctas : {1, 132, 1056}) {
    if (ctas > 132 && !all) continue;
    for (uint32_t mask : {0u, 31u, 255u, 4095u, 65535u}) {
      device_atomics<0><<<ctas, 256>>>(words, mask, out, 8), line("device_add", mask + 1, 8, ctas, 256);
      device_atomics<1><<<ctas, 256>>>(words, mask, out, 8), line("device_swap", mask + 1, 8, ctas, 256);
      device_atomics<2><<<ctas, 256>>>(words, mask, out, 8), line("device_exchange", mask + 1, 8, ctas, 256);
    }
  }
  CHECK(cudaMemset(a, 0, room));
  uint32_t* cell = words;
  const auto fresh = [&] { return cell += 1024; };
  for (int ctas : {1, 2, 8, 32, 132})
    for (int each : {1, 16}) {
      fresh(), lock<<<ctas, 32>>>(cell, cell + 64, each), line("lock", each, 0, ctas, 32);
      fresh(), tickets<<<ctas, 32>>>(cell, cell + 32, cell + 64, each), line("tickets", each, 0, ctas, 32);
    }
  for (int ctas : {1, 8, 132})
    for (int threads : {32, 128}) {
      if (ctas == 132 && threads > 32) continue;
      fresh(), lock_of_all<<<ctas, threads>>>(cell, cell + 64), line("lock_of_all", 1, 0, ctas, threads);
    }
  for (int jobs : {132, 1000, 4000})
    for (int work : {16, 256, 4096}) fresh(), queue<<<264, 128>>>(cell, out, jobs, work), line("queue", jobs, work, 264, 128);
  for (int ctas : {8, 132, 1056, 4096}) {
    if (ctas > 132 && !all) continue;
    for (int work : {0, 1024})
      for (int threads : {32, 256}) {
        uint32_t* flags = fresh();
        cell += 8192;
        uint32_t* sums = fresh();
        cell += 8192;
        chain<<<ctas, threads>>>(flags, sums, work), line("chain", work, 0, ctas, threads);
      }
  }
  columns_of<uint8_t>(a, a + room, out);
  columns_of<uint32_t>(a, a + room, out);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return 0;
}
