// SPDX-License-Identifier: Apache-2.0
// Kernels of one kind of load each: streams, gathers, atomics, empty grids, in several sizes. Prints a line
// for each launch: kind, bytes of an element, elements, CTAs, threads, one more number (what it is, the kind
// says). See README.md.
// usage: load [MOST]: leaves out streams of more bytes than that, and what is as large
// metrics: gpu__time_duration.sum,sm__cycles_active.max,sm__cycles_active.avg,sm__cycles_elapsed.max
// metrics: smsp__inst_executed.sum
// metrics: dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct
// metrics: lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_op_atom.sum,lts__t_sectors_op_red.sum
// caches: all
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(x)                                                                               \
  do {                                                                                         \
    cudaError_t e = (x);                                                                       \
    if (e != cudaSuccess) return fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e)), 1;    \
  } while (0)

__device__ uint32_t sum(uint32_t v) { return v; }
__device__ uint32_t sum(uint4 v) { return v.x + v.y + v.z + v.w; }
__device__ uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

template <class T>
__global__ void copy_one(const T* a, T* b) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  b[i] = a[i];
}
template <class T>
__global__ void read_one(const T* a, uint32_t* out) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  uint32_t v = sum(a[i]);
  if (v == 0x9e3779b9u) *out = v;
}
template <class T>
__global__ void write_one(T* b, T v) {
  b[size_t(blockIdx.x) * blockDim.x + threadIdx.x] = v;
}
template <class T>
__global__ void copy_loop(const T* a, T* b, size_t n) {
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) b[i] = a[i];
}
template <class T>
__global__ void read_loop(const T* a, uint32_t* out, size_t n) {
  uint32_t v = 0;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) v += sum(a[i]);
  if (v == 0x9e3779b9u) *out = v;
}
// Elements far apart: thread i reads element i * stride.
__global__ void apart(const uint32_t* a, uint32_t* out, size_t stride) {
  uint32_t v = a[(size_t(blockIdx.x) * blockDim.x + threadIdx.x) * stride];
  if (v == 0x9e3779b9u) *out = v;
}
// One lane, one load behind the other.
__global__ void chain(const uint32_t* a, uint32_t* out, size_t stride, int loads) {
  uint32_t v = 0;
  for (int i = 0; i < loads; i++) v += a[i * stride + (v & 1)];  // the array holds zeros
  *out = v;
}
__global__ void gather(const uint32_t* a, uint32_t* out, uint32_t mask) {
  uint32_t v = a[mix(blockIdx.x * blockDim.x + threadIdx.x) & mask];
  if (v == 0x9e3779b9u) *out = v;
}
__global__ void scatter(uint32_t* a, uint32_t mask) {
  uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  a[mix(i) & mask] = i;
}
template <class T>
__global__ void add(T* a, uint32_t mask) {
  atomicAdd(a + (mix(blockIdx.x * blockDim.x + threadIdx.x) & mask), T(threadIdx.x));
}
template <class T>
__global__ void add_told(T* a, uint32_t mask, T* out) {
  T v = atomicAdd(a + (mix(blockIdx.x * blockDim.x + threadIdx.x) & mask), T(threadIdx.x));
  if (v == T(0x9e3779)) *out = v;
}
__global__ void greatest(float* a, uint32_t mask) {  // by compare-and-swap
  uint32_t i = mix(blockIdx.x * blockDim.x + threadIdx.x);
  float v = float(i >> 8);
  unsigned* p = reinterpret_cast<unsigned*>(a + (i & mask));
  unsigned old = *p;
  while (v > __uint_as_float(old)) {
    unsigned seen = atomicCAS(p, old, __float_as_uint(v));
    if (seen == old) break;
    old = seen;
  }
}
__global__ void swap_add(float* a, uint32_t mask) {  // by compare-and-swap, which every thread must win once
  uint32_t i = mix(blockIdx.x * blockDim.x + threadIdx.x);
  unsigned* p = reinterpret_cast<unsigned*>(a + (i & mask));
  unsigned old = *p, seen;
  do {
    seen = old;
    old = atomicCAS(p, seen, __float_as_uint(1 + __uint_as_float(seen)));
  } while (seen != old);
}
__global__ void bins(const uint32_t* a, uint32_t* out, uint32_t mask, int each) {
  __shared__ uint32_t h[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) h[i] = 0;
  __syncthreads();
  for (int i = 0; i < each; i++) atomicAdd(h + (mix((blockIdx.x * each + i) * blockDim.x + threadIdx.x) & mask), 1);
  __syncthreads();
  if (h[threadIdx.x] == 0x9e3779b9u) *out = 1;
}
__global__ void empty() {}
__global__ void __cluster_dims__(2) empty2() {}
__global__ void __cluster_dims__(8) empty8() {}
__global__ void fma_loop(float* out, float x, int turns) {
  float v[8] = {x, x, x, x, x, x, x, x};
  for (int i = 0; i < turns; i++)
    for (float& w : v) w = w * x + 1;
  float s = 0;
  for (float w : v) s += w;
  if (s == 3.25f) *out = s;
}

static void line(const char* kind, int bytes, size_t elements, unsigned ctas, int threads, size_t more = 0) {
  printf("%s %d %zu %u %d %zu\n", kind, bytes, elements, ctas, threads, more);
}

int main(int argc, char** argv) {
  const size_t most = argc > 1 ? strtoull(argv[1], nullptr, 0) : size_t(1) << 28;
  const size_t room = size_t(4) << 30;
  uint32_t *a, *b;
  CHECK(cudaMalloc(&a, room));
  CHECK(cudaMalloc(&b, size_t(1) << 30));
  CHECK(cudaMemset(a, 0, room));
  CHECK(cudaMemset(b, 0, size_t(1) << 30));
  auto a4 = reinterpret_cast<uint4*>(a), b4 = reinterpret_cast<uint4*>(b);
  for (int shift : {16, 18, 20, 21, 22, 23, 24, 25, 26, 28}) {  // bytes
    size_t bytes = size_t(1) << shift, n = bytes / 4, n4 = bytes / 16;
    if (bytes > most) continue;
    for (int threads : {128, 256, 1024}) {
      unsigned g = unsigned(n / threads), g4 = unsigned(n4 / threads);
      copy_one<<<g, threads>>>(a, b), line("copy_one", 4, n, g, threads);
      read_one<<<g, threads>>>(a, b), line("read_one", 4, n, g, threads);
      write_one<<<g, threads>>>(b, 7u), line("write_one", 4, n, g, threads);
      if (g4 == 0) continue;
      copy_one<<<g4, threads>>>(a4, b4), line("copy_one", 16, n4, g4, threads);
      read_one<<<g4, threads>>>(a4, b), line("read_one", 16, n4, g4, threads);
      write_one<<<g4, threads>>>(b4, make_uint4(1, 2, 3, 4)), line("write_one", 16, n4, g4, threads);
    }
    for (unsigned ctas : {132u, 528u, 1056u}) {
      copy_loop<<<ctas, 256>>>(a, b, n), line("copy_loop", 4, n, ctas, 256);
      read_loop<<<ctas, 256>>>(a, b, n), line("read_loop", 4, n, ctas, 256);
      copy_loop<<<ctas, 256>>>(a4, b4, n4), line("copy_loop", 16, n4, ctas, 256);
      read_loop<<<ctas, 256>>>(a4, b, n4), line("read_loop", 16, n4, ctas, 256);
    }
  }
  for (size_t stride : {32, 128, 4096, 65536, 262144, 2097152})
    for (unsigned threads : {32u, 1024u, 8448u, 135168u}) {
      if (stride * threads > room) continue;
      unsigned t = threads < 256 ? threads : 256;
      apart<<<(threads + t - 1) / t, t>>>(a, b, stride / 4), line("apart", 4, threads, (threads + t - 1) / t, int(t), stride);
    }
  for (size_t stride : {128, 4096, 65536, 2097152, 33554432})
    for (int loads : {1, 2, 4, 16, 64}) chain<<<1, 1>>>(a, b, stride / 4, loads), line("chain", 4, size_t(loads), 1, 1, stride);
  for (int shift : {16, 20, 22, 24, 26, 28, 30}) {
    for (unsigned ctas : {1056u, 16384u}) {
      gather<<<ctas, 256>>>(a, b, (1u << (shift - 2)) - 1), line("gather", 4, size_t(ctas) * 256, ctas, 256, size_t(1) << shift);
      scatter<<<ctas, 256>>>(b, (1u << (shift - 2)) - 1), line("scatter", 4, size_t(ctas) * 256, ctas, 256, size_t(1) << shift);
    }
  }
  for (uint32_t places : {1u, 32u, 256u, 4096u, 65536u, 1048576u, 16777216u})
    for (unsigned ctas : {132u, 1056u, 4096u}) {
      size_t n = size_t(ctas) * 256;
      uint32_t m = places - 1;
      add<<<ctas, 256>>>(b, m), line("add_u32", 4, n, ctas, 256, places);
      add<<<ctas, 256>>>(reinterpret_cast<float*>(b), m), line("add_f32", 4, n, ctas, 256, places);
      add<<<ctas, 256>>>(reinterpret_cast<double*>(b), m), line("add_f64", 8, n, ctas, 256, places);
      add_told<<<ctas, 256>>>(b, m, a), line("add_told_u32", 4, n, ctas, 256, places);
      add_told<<<ctas, 256>>>(reinterpret_cast<float*>(b), m, reinterpret_cast<float*>(a)), line("add_told_f32", 4, n, ctas, 256, places);
      CHECK(cudaMemset(b, 0, 1 << 26));
      greatest<<<ctas, 256>>>(reinterpret_cast<float*>(b), m), line("greatest", 4, n, ctas, 256, places);
      if (places >= 32) swap_add<<<ctas, 256>>>(reinterpret_cast<float*>(b), m), line("swap_add", 4, n, ctas, 256, places);
    }
  for (uint32_t places : {1u, 8u, 32u, 256u, 4096u})
    for (int threads : {64, 256, 1024}) bins<<<264, threads>>>(a, b, places - 1, 64), line("bins", 4, 64, 264, threads, places);
  for (unsigned ctas : {1u, 132u, 1056u, 10560u, 105600u, 1056000u})
    for (int threads : {32, 256, 1024}) {
      if (ctas > most / 128) continue;
      empty<<<ctas, threads>>>(), line("empty", 0, 0, ctas, threads, 1);
      unsigned g = (ctas + 7) / 8 * 8;
      empty2<<<g, threads>>>(), line("empty", 0, 0, g, threads, 2);
      empty8<<<g, threads>>>(), line("empty", 0, 0, g, threads, 8);
    }
  for (int turns : {1, 64, 4096, 65536})
    for (unsigned ctas : {1u, 132u, 1056u})
      if (size_t(turns) * 4096 <= most) fma_loop<<<ctas, 256>>>(reinterpret_cast<float*>(b), 0.5f, turns), line("fma_loop", 4, size_t(turns), ctas, 256);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
