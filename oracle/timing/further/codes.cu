// SPDX-License-Identifier: Apache-2.0
// Bytes and bits, ciphers, transforms, small grids, rings of copies.
#include <cuda/barrier>
#include <cuda_pipeline.h>

#include "../common/common.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void base64(const uint8_t* in, uchar4* out) {  // three bytes of a thread
  __shared__ char table[64];
  if (threadIdx.x < 64) {
    const int v = threadIdx.x;
    table[v] = v < 26 ? 'A' + v : v < 52 ? 'a' + v - 26 : v < 62 ? '0' + v - 52 : v == 62 ? '+' : '/';
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t v = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
  out[i] = make_uchar4(table[v >> 18], table[v >> 12 & 63], table[v >> 6 & 63], table[v & 63]);
}

__global__ void utf8_count(const uint4* text, unsigned long long* count, int n) {
  uint32_t c = 0;
  const auto starts = [](uint32_t w) { return __popc(__vcmpne4(w & 0xc0c0c0c0u, 0x80808080u)) / 8; };
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uint4 v = text[i];
    c += starts(v.x) + starts(v.y) + starts(v.z) + starts(v.w);
  }
  c = __reduce_add_sync(~0u, c);
  if (threadIdx.x % 32 == 0) atomicAdd(count, c);
}

__device__ uint32_t turned(uint32_t v, int n) { return __funnelshift_l(v, v, n); }

__global__ void md5_like(const uint32_t* in, uint4* out) {  // a block of 64 bytes of a thread
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  uint32_t w[16], a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
#pragma unroll
  for (int k = 0; k < 16; ++k) w[k] = in[k * n + i];
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    const uint32_t f = k < 16 ? (b & c) | (~b & d) : k < 32 ? (d & b) | (~d & c) : k < 48 ? b ^ c ^ d : c ^ (b | ~d);
    const int g = k < 16 ? k : k < 32 ? (5 * k + 1) % 16 : k < 48 ? (3 * k + 5) % 16 : 7 * k % 16;
    const uint32_t next = b + turned(a + f + w[g] + k * 0x9e3779b9u, 5 + k % 4 * 5);
    a = d, d = c, c = b, b = next;
  }
  out[i] = make_uint4(a, b, c, d);
}

// One table in shared memory.
__global__ void aes_tables(const uint4* in, const uint32_t* tables, uint4* out, int rounds) {
  __shared__ uint32_t t[256];
  t[threadIdx.x] = tables[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 s = in[i];
  for (int r = 0; r < rounds; ++r) {
    const auto mix = [&](uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
      return t[a & 255] ^ turned(t[b >> 8 & 255], 8) ^ turned(t[c >> 16 & 255], 16) ^ turned(t[d >> 24], 24) ^ r;
    };
    s = make_uint4(mix(s.x, s.y, s.z, s.w), mix(s.y, s.z, s.w, s.x), mix(s.z, s.w, s.x, s.y), mix(s.w, s.x, s.y, s.z));
  }
  out[i] = s;
}

__global__ void hamming_pairs(const uint4* a, const uint4* b, uint32_t* least, int many) {  // 128 bits
  __shared__ uint4 s[128];
  const uint4 mine = a[blockIdx.x * 128 + threadIdx.x];
  uint32_t best = 128;
  for (int at = 0; at < many; at += 128) {
    s[threadIdx.x] = b[at + threadIdx.x];
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < 128; ++k) {
      const uint4 v = s[k];
      best = min(best, __popc(v.x ^ mine.x) + __popc(v.y ^ mine.y) + __popc(v.z ^ mine.z) + __popc(v.w ^ mine.w));
    }
    __syncthreads();
  }
  least[blockIdx.x * 128 + threadIdx.x] = best;
}

__global__ void multiply_long(const uint32_t* a, const uint32_t* b, uint32_t* out) {  // 256 by 256 bits
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  uint32_t x[8], y[8], r[16] = {};
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = a[k * n + i], y[k] = b[k * n + i];
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    uint64_t carry = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) carry += static_cast<uint64_t>(x[k]) * y[j] + r[j + k], r[j + k] = static_cast<uint32_t>(carry), carry >>= 32;
    r[j + 8] = static_cast<uint32_t>(carry);
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) out[k * n + i] = r[k];
}

__global__ void modular_power(const uint64_t* in, uint64_t* out, uint64_t modulus) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint64_t base = in[i] % modulus, r = 1;
  for (uint32_t e = 65537; e; e >>= 1) {
    if (e & 1) r = r * base % modulus;
    base = base * base % modulus;
  }
  out[i] = r;
}

__global__ void fft_radix_4(const float2* in, float2* out, int n) {  // a pass over all
  const int i = blockIdx.x * blockDim.x + threadIdx.x, quarter = n / 4;
  const float2 a = in[i], b = in[i + quarter], c = in[i + 2 * quarter], d = in[i + 3 * quarter];
  const float2 p = make_float2(a.x + c.x, a.y + c.y), q = make_float2(a.x - c.x, a.y - c.y), r = make_float2(b.x + d.x, b.y + d.y), s = make_float2(b.y - d.y, d.x - b.x);
  float sn, cs;
  __sincosf(-6.2831853f * i / n, &sn, &cs);
  const auto turn = [](float2 v, float c, float s) { return make_float2(v.x * c - v.y * s, v.x * s + v.y * c); };
  out[4 * i] = make_float2(p.x + r.x, p.y + r.y);
  out[4 * i + 1] = turn(make_float2(q.x + s.x, q.y + s.y), cs, sn);
  out[4 * i + 2] = turn(make_float2(p.x - r.x, p.y - r.y), cs * cs - sn * sn, 2 * cs * sn);
  out[4 * i + 3] = turn(make_float2(q.x - s.x, q.y - s.y), cs * (4 * cs * cs - 3), sn * (3 - 4 * sn * sn));
}

__global__ void walsh_hadamard(float* data) {  // 1024 of a CTA of 256
  __shared__ float s[1024];
  const int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) s[k * 256 + t] = data[blockIdx.x * 1024 + k * 256 + t];
  for (int d = 1; d < 1024; d *= 2) {
    __syncthreads();
    for (int k = 0; k < 2; ++k) {
      const int p = k * 256 + t, i = 2 * p - (p & (d - 1));
      const float a = s[i], b = s[i + d];
      s[i] = a + b, s[i + d] = a - b;
    }
  }
  __syncthreads();
  for (int k = 0; k < 4; ++k) data[blockIdx.x * 1024 + k * 256 + t] = s[k * 256 + t];
}

// Small grids.
__global__ void sum_of_few(const float* in, float* out, int each) {  // a CTA for each part
  __shared__ float part[32];
  const int t = threadIdx.x;
  float s = 0;
  for (int i = t; i < each; i += blockDim.x) s += in[blockIdx.x * each + i];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (t % 32 == 0) part[t / 32] = s;
  __syncthreads();
  if (t == 0) {
    s = 0;
    for (int k = 0; k < blockDim.x / 32; ++k) s += part[k];
    out[blockIdx.x] = s;
  }
}

__global__ void copy_few(const float4* in, float4* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}

__global__ void recurrence(const float* in, float* out, int steps) {  // one thread for each series
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  float a = 0, b = 0;
  for (int k = 0; k < steps; ++k) {
    const float v = in[k * n + i] + 0.5f * a - 0.25f * b;
    b = a, a = v;
    out[k * n + i] = v;
  }
}

__global__ void one_cta_scan(int* data, int n) {  // the whole by one CTA of 1024
  __shared__ int part[32], base;
  const int t = threadIdx.x, lane = t % 32, w = t / 32;
  if (t == 0) base = 0;
  for (int at = 0; at < n; at += 1024) {
    int v = data[at + t], all = v;
    for (int d = 1; d < 32; d *= 2) {
      const int u = __shfl_up_sync(~0u, all, d);
      if (lane >= d) all += u;
    }
    if (lane == 31) part[w] = all;
    __syncthreads();
    if (w == 0) {
      int p = part[lane];
      for (int d = 1; d < 32; d *= 2) {
        const int u = __shfl_up_sync(~0u, p, d);
        if (lane >= d) p += u;
      }
      part[lane] = p;
    }
    __syncthreads();
    data[at + t] = all + base + (w ? part[w - 1] : 0);
    __syncthreads();
    if (t == 0) base += part[31];
    __syncthreads();
  }
}

__global__ void table_few(const uint8_t* in, const float* table, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[in[i] * 37 % 1024] * logf(1.5f + in[i]) + tanhf(table[in[i]]);
}

// Asynchronous copies.
__global__ void double_buffer(const float4* in, float* out, int tiles) {  // cp.async, two tiles of 4 KiB
  __shared__ float4 s[2][256];
  const int t = threadIdx.x;
  const float4* const mine = in + static_cast<size_t>(blockIdx.x) * tiles * 256;
  __pipeline_memcpy_async(&s[0][t], mine + t, 16);
  __pipeline_commit();
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (k + 1 < tiles) __pipeline_memcpy_async(&s[(k + 1) % 2][t], mine + (k + 1) * 256 + t, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    const float4 v = s[k % 2][t ^ 1];
    sum += v.x * v.y + v.z * v.w;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = sum;
}

#pragma nv_diag_suppress 20054
__global__ void bulk_ring(const float* in, float* out, int tiles) {  // four stages of 8 KiB, all wait for each
  constexpr int kTile = 2048, kStages = 4;
  extern __shared__ __align__(128) float s[];
  __shared__ Barrier full[kStages];
  const int t = threadIdx.x;
  if (t == 0) {
    for (auto& b : full) init(&b, 1);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  const float* const mine = in + static_cast<size_t>(blockIdx.x) * tiles * kTile;
  const auto ask = [&](int k) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(s + k % kStages * kTile, mine + k * kTile, kTile * 4, full[k % kStages]);
    (void)cuda::device::barrier_arrive_tx(full[k % kStages], 1, kTile * 4);
  };
  if (t == 0)
    for (int k = 0; k < kStages - 1; ++k) ask(k);
  float sum = 0;
  for (int k = 0; k < tiles; ++k) {
    if (t == 0 && k + kStages - 1 < tiles) ask(k + kStages - 1);
    full[k % kStages].wait_parity(k / kStages & 1);
    for (int i = t; i < kTile; i += 256) sum += s[k % kStages * kTile + i] * 1.5f;
    __syncthreads();
  }
  out[blockIdx.x * 256 + t] = sum;
}

// Grid-stride against one of a thread; tails.
__global__ void axpby_strided(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i] + 3 * y[i];
}
__global__ void axpby_each(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + 3 * y[i];
}
// A wave and a little more.
__global__ void __launch_bounds__(1024) heavy_tail(const float* in, float* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = in[i], b = a * 0.5f;
  for (int k = 0; k < rounds; ++k) a = fmaf(a, b, 0.1f), b = fmaf(b, a, -0.2f);
  out[i] = a + b;
}

int main() {
  const int n = 4 << 20;
  float *a = floats(n), *b = zeros<float>(n);
  uint32_t* u = numbers(n);
  uint8_t* bytes = filled<uint8_t>(n, [](size_t) { return next_random() % 256; });
  base64<<<(1 << 20) / 256, 256>>>(bytes, reinterpret_cast<uchar4*>(b));
  utf8_count<<<264, 256>>>(reinterpret_cast<uint4*>(u), zeros<unsigned long long>(1), n / 4);
  md5_like<<<512, 256>>>(u, reinterpret_cast<uint4*>(b));
  aes_tables<<<1024, 256>>>(reinterpret_cast<uint4*>(u), u, reinterpret_cast<uint4*>(b), 10);
  hamming_pairs<<<256, 128>>>(reinterpret_cast<uint4*>(u), reinterpret_cast<uint4*>(u) + 65536, reinterpret_cast<uint32_t*>(b), 1024);
  multiply_long<<<1024, 128>>>(u, u + (1 << 20), reinterpret_cast<uint32_t*>(b));
  modular_power<<<528, 128>>>(reinterpret_cast<uint64_t*>(u), reinterpret_cast<uint64_t*>(b), 1000000007ull);
  fft_radix_4<<<(1 << 20) / 4 / 256, 256>>>(reinterpret_cast<float2*>(a), reinterpret_cast<float2*>(b), 1 << 20);
  walsh_hadamard<<<2048, 256>>>(a);
  sum_of_few<<<16, 512>>>(a, b, 32768);
  copy_few<<<40, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(b), 1 << 17);
  recurrence<<<32, 64>>>(a, b, 64);
  one_cta_scan<<<1, 1024>>>(reinterpret_cast<int*>(u), 16384);
  table_few<<<60, 256>>>(bytes, a, b);
  double_buffer<<<264, 256>>>(reinterpret_cast<float4*>(a), b, 15);
  must(cudaFuncSetAttribute(bulk_ring, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768), "cudaFuncSetAttribute");
  bulk_ring<<<132, 256, 32768>>>(a, b, 15);
  axpby_strided<<<528, 256>>>(a, b, n);
  axpby_each<<<(n - 1000 + 511) / 512, 512>>>(a, b, n - 1000);
  heavy_tail<<<280, 1024>>>(a, b, 1000);
  return finish();
}
