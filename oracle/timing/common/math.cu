// SPDX-License-Identifier: Apache-2.0
// Arithmetic of each element: finance, physics, transforms, ciphers, quantisation, as they are commonly written.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common.h"

__global__ void black_scholes(const float* s, const float* x, const float* t, float* call, float* put) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float S = 50 + 20 * s[i], X = 50 + 20 * x[i], T = 1.5f + t[i], root = sqrtf(T);
  const float d1 = (logf(S / X) + (0.02f + 0.045f) * T) / (0.3f * root), d2 = d1 - 0.3f * root;
  const float n1 = 0.5f * erfcf(-0.70710678f * d1), n2 = 0.5f * erfcf(-0.70710678f * d2), e = expf(-0.02f * T);
  call[i] = S * n1 - X * e * n2;
  put[i] = X * e * (1 - n2) - S * (1 - n1);
}

__device__ uint4 philox(uint4 c, uint2 k) {
#pragma unroll
  for (int r = 0; r < 10; ++r) {
    const uint32_t h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
    k.x += 0x9E3779B9u, k.y += 0xBB67AE85u;
  }
  return c;
}

__global__ void monte_carlo_pi(uint32_t* out, int turns) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t in = 0;
  for (int t = 0; t < turns; ++t) {
    const uint4 r = philox(make_uint4(i, t, 0, 0), make_uint2(7, 9));
    const float x = r.x * 2.3283064e-10f, y = r.y * 2.3283064e-10f, u = r.z * 2.3283064e-10f, v = r.w * 2.3283064e-10f;
    in += x * x + y * y < 1, in += u * u + v * v < 1;
  }
  atomicAdd(out, in);
}

__global__ void normal_paths(float* out, int steps) {  // Box and Muller
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 100;
  for (int t = 0; t < steps; t += 2) {
    const uint4 r = philox(make_uint4(i, t, 1, 0), make_uint2(3, 5));
    const float radius = sqrtf(-2 * logf((r.x + 1.0f) * 2.3283064e-10f)), angle = r.y * 1.4629181e-9f;
    v *= expf(0.0001f + 0.01f * radius * cosf(angle)), v *= expf(0.0001f + 0.01f * radius * sinf(angle));
  }
  out[i] = v;
}

__global__ void nbody_tiles(const float4* p, float4* out, int n) {
  __shared__ float4 s[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = p[i];
  float3 a = make_float3(0, 0, 0);
  for (int t = 0; t < n; t += 256) {
    s[threadIdx.x] = p[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 256; ++k) {
      const float dx = s[k].x - me.x, dy = s[k].y - me.y, dz = s[k].z - me.z, d = dx * dx + dy * dy + dz * dz + 0.01f, r = rsqrtf(d), f = s[k].w * r * r * r;
      a.x += f * dx, a.y += f * dy, a.z += f * dz;
    }
    __syncthreads();
  }
  out[i] = make_float4(a.x, a.y, a.z, 0);
}

__global__ void lennard_jones(const double* x, double* force, int n, int near) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int k = 1; k <= near; ++k) {
    const double d = x[(i + k * 17) % n] - x[i] + 1.5, r2 = 1 / (d * d), r6 = r2 * r2 * r2;
    sum += r6 * (r6 - 0.5) * r2 * d;
  }
  force[i] = sum;
}

__global__ void mandelbrot(uint16_t* out, int n, int most) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float cx = -2 + 3.0f * x / n, cy = -1.5f + 3.0f * y / n;
  float zx = 0, zy = 0;
  int k = 0;
  for (; k < most && zx * zx + zy * zy < 4; ++k) {
    const float t = zx * zx - zy * zy + cx;
    zy = 2 * zx * zy + cy, zx = t;
  }
  out[y * n + x] = k;
}

__global__ void rays(const float4* spheres, uchar4* out, int n, int many) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float dx = (x - n / 2) / (0.5f * n), dy = (y - n / 2) / (0.5f * n), dz = rsqrtf(1 + dx * dx + dy * dy);
  float nearest = 1e30f, light = 0;
  for (int k = 0; k < many; ++k) {
    const float4 s = spheres[k];
    const float b = s.x * dx * dz + s.y * dy * dz + (s.z + 4) * dz, c = s.x * s.x + s.y * s.y + (s.z + 4) * (s.z + 4) - s.w * s.w * 0.02f, d = b * b - c;
    if (d <= 0) continue;
    const float t = b - sqrtf(d);
    if (t > 0 && t < nearest) nearest = t, light = fabsf(t * dx * dz - s.x) / (fabsf(s.w) + 0.01f);
  }
  const unsigned char v = nearest < 1e30f ? min(255, static_cast<int>(light * 255)) : 0;
  out[y * n + x] = make_uchar4(v, v, v, 255);
}

__device__ uint32_t turned(uint32_t v, int n) { return __funnelshift_r(v, v, n); }
__constant__ uint32_t round_constants[64];
__global__ void sha_rounds(const uint32_t* in, uint32_t* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t w[16], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
#pragma unroll
  for (int k = 0; k < 16; ++k) w[k] = in[k * gridDim.x * blockDim.x + i];
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    if (k >= 16) {
      const uint32_t a = w[(k + 1) % 16], b = w[(k + 14) % 16];
      w[k % 16] += (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[(k + 9) % 16] + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    const uint32_t t1 = h[7] + (turned(h[4], 6) ^ turned(h[4], 11) ^ turned(h[4], 25)) + ((h[4] & h[5]) ^ (~h[4] & h[6])) + round_constants[k] + w[k % 16];
    const uint32_t t2 = (turned(h[0], 2) ^ turned(h[0], 13) ^ turned(h[0], 22)) + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
#pragma unroll
    for (int j = 7; j > 0; --j) h[j] = h[j - 1];
    h[4] += t1, h[0] = t1 + t2;
  }
  out[i] = h[0] ^ h[7];
}

__constant__ uint32_t crc_table[256];
__global__ void crc_constant(const uint32_t* in, uint32_t* out, int words) {  // lanes index constants
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t crc = ~0u;
  for (int k = 0; k < words; ++k) {
    uint32_t v = in[k * gridDim.x * blockDim.x + i];
    for (int b = 0; b < 4; ++b, v >>= 8) crc = crc >> 8 ^ crc_table[(crc ^ v) & 255];
  }
  out[i] = crc;
}
__global__ void crc_shared(const uint32_t* in, uint32_t* out, int words) {
  __shared__ uint32_t table[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) table[k] = crc_table[k];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t crc = ~0u;
  for (int k = 0; k < words; ++k) {
    uint32_t v = in[k * gridDim.x * blockDim.x + i];
    for (int b = 0; b < 4; ++b, v >>= 8) crc = crc >> 8 ^ table[(crc ^ v) & 255];
  }
  out[i] = crc;
}

// All lanes read one.
__global__ void polynomial_constant(const float* in, float* out, int terms, const float* unused) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = in[i];
  float v = 0;
  for (int k = 0; k < terms; ++k) v = v * x + __uint_as_float(0x3f800000 | (crc_table[k] & 0xffff));
  out[i] = v;
}

__global__ void hamming(const uint4* a, const uint4* b, uint32_t* out, int n) {  // nearest of n codes of 128 bits
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 me = a[i];
  uint32_t best = ~0u;
  for (int k = 0; k < n; ++k) {
    const uint4 v = b[k];
    best = min(best, static_cast<uint32_t>(__popc(v.x ^ me.x) + __popc(v.y ^ me.y) + __popc(v.z ^ me.z) + __popc(v.w ^ me.w)) << 16 | k);
  }
  out[i] = best;
}

__global__ void fft_256(float2* data) {  // of a CTA of 64, radix 4
  __shared__ float2 s[256];
  float2* mine = data + blockIdx.x * 256;
  const int t = threadIdx.x;
  float2 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) v[k] = mine[t + 64 * k];
  for (int span = 64, turn = 1; span >= 1; span /= 4, turn *= 4) {
    const float2 a = make_float2(v[0].x + v[2].x, v[0].y + v[2].y), b = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
    const float2 c = make_float2(v[1].x + v[3].x, v[1].y + v[3].y), d = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
    v[0] = make_float2(a.x + c.x, a.y + c.y), v[1] = make_float2(b.x + d.x, b.y + d.y);
    v[2] = make_float2(a.x - c.x, a.y - c.y), v[3] = make_float2(b.x - d.x, b.y - d.y);
    const int j = t % span, base = t / span * span * 4 + j;
#pragma unroll
    for (int k = 1; k < 4; ++k) {
      float sn, cs;
      __sincosf(-6.2831853f * k * j * turn / 256, &sn, &cs);
      v[k] = make_float2(v[k].x * cs - v[k].y * sn, v[k].x * sn + v[k].y * cs);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; ++k) s[base + k * span] = v[k];
    __syncthreads();
    const int next = max(span / 4, 1), jn = t % next, bn = t / next * next * 4 + jn;
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = s[bn + k * next];
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) mine[t * 4 + k] = v[k];
}

__global__ void dct_8x8(const float* in, float* out, int n) {
  __shared__ float s[8][8 * 8 + 1], basis[8][8];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 64 + tx, y = blockIdx.y * 8 + ty, b = tx / 8 * 8, u = tx % 8;
  if (tx < 8) basis[ty][tx] = cosf((2 * tx + 1) * ty * 0.19634954f) * (ty ? 0.5f : 0.35355339f);
  s[ty][tx] = in[y * n + x];
  __syncthreads();
  float v = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) v += basis[u][k] * s[ty][b + k];
  __syncthreads();
  s[ty][tx] = v;
  __syncthreads();
  v = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) v += basis[ty][k] * s[k][tx];
  out[y * n + x] = v;
}

__global__ void haar(const float2* in, float* low, float* high) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 v = in[i];
  low[i] = (v.x + v.y) * 0.70710678f, high[i] = (v.x - v.y) * 0.70710678f;
}

__global__ void saxpy_stride(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}

__global__ void gelu(const __nv_bfloat162* in, __nv_bfloat162* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float2 v = __bfloat1622float2(in[i]);
  v.x = 0.5f * v.x * (1 + tanhf(0.79788456f * (v.x + 0.044715f * v.x * v.x * v.x)));
  v.y = 0.5f * v.y * (1 + tanhf(0.79788456f * (v.y + 0.044715f * v.y * v.y * v.y)));
  out[i] = __floats2bfloat162_rn(v.x, v.y);
}

__global__ void swiglu(const half2* gate, const half2* up, half2* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 g = __half22float2(gate[i]), u = __half22float2(up[i]);
  out[i] = __floats2half2_rn(g.x / (1 + __expf(-g.x)) * u.x, g.y / (1 + __expf(-g.y)) * u.y);
}

__global__ void rotary(half2* q, const float2* angles, int heads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, pair = i % 64, position = i / (64 * heads);
  const float2 a = angles[position * 64 + pair], v = __half22float2(q[i]);
  q[i] = __floats2half2_rn(v.x * a.x - v.y * a.y, v.x * a.y + v.y * a.x);
}

__global__ void quantize(const float4* in, char4* out, float* scales) {  // 128 values a warp
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 v = in[i];
  float m = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
  for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  const float s = 127 / (m + 1e-8f);
  out[i] = make_char4(__float2int_rn(v.x * s), __float2int_rn(v.y * s), __float2int_rn(v.z * s), __float2int_rn(v.w * s));
  if (threadIdx.x % 32 == 0) scales[i / 32] = m / 127;
}

__global__ void unpack_four_bits(const uint32_t* in, const half* scales, half2* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t v = in[i];
  const half2 s = __half2half2(scales[i / 16]);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    out[i * 4 + k] = __hmul2(__halves2half2(__int2half_rn(static_cast<int>(v >> (8 * k) & 15) - 8), __int2half_rn(static_cast<int>(v >> (8 * k + 4) & 15) - 8)), s);
}

__global__ void adam(float* p, const float* g, float* m, float* v, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float gi = g[i], mi = m[i] * 0.9f + gi * 0.1f, vi = v[i] * 0.999f + gi * gi * 0.001f;
  m[i] = mi, v[i] = vi;
  p[i] -= 0.001f * (mi / (1 - powf(0.9f, step))) / (sqrtf(vi / (1 - powf(0.999f, step))) + 1e-8f);
}

__global__ void complex_multiply(const double2* a, const double2* b, double2* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const double2 u = a[i], v = b[i];
  out[i] = make_double2(u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x);
}

__global__ void double_series(const double* in, double* out, int terms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x = in[i] * 1e-300, v = 0.5;
  for (int k = 1; k < terms; ++k) v = v * x + 1.0 / k;
  out[i] = v + sin(x) + exp(x);
}

__global__ void primes(const uint32_t* in, uint32_t* out) {  // ways that differ
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t n = in[i] % 5000 + 3;
  uint32_t d = 2;
  while (d * d <= n && n % d) ++d;
  out[i] = d * d > n;
}

__global__ void collatz(const uint32_t* in, uint32_t* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint64_t v = in[i] % 10000 + 1;
  uint32_t steps = 0;
  for (; v != 1; ++steps) v = v & 1 ? 3 * v + 1 : v / 2;
  out[i] = steps;
}

int main() {
  const int n = 2 << 20;
  float *a = floats(n * 4), *b = floats(n), *c = floats(n), *d = zeros<float>(n * 2), *e = zeros<float>(n * 2);
  uint32_t table[256];
  for (uint32_t k = 0; k < 256; ++k) {
    table[k] = k;
    for (int j = 0; j < 8; ++j) table[k] = table[k] & 1 ? table[k] >> 1 ^ 0xedb88320u : table[k] >> 1;
  }
  must(cudaMemcpyToSymbol(crc_table, table, sizeof table), "cudaMemcpyToSymbol");
  must(cudaMemcpyToSymbol(round_constants, table, 256), "cudaMemcpyToSymbol");
  uint32_t *u = numbers(n * 2), *v = zeros<uint32_t>(n);
  black_scholes<<<n / 256, 256>>>(a, b, c, d, e);
  monte_carlo_pi<<<528, 256>>>(v, 16);
  normal_paths<<<528, 256>>>(d, 16);
  nbody_tiles<<<8192 / 256, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(d), 2048);
  lennard_jones<<<132 * 4, 256>>>(reinterpret_cast<double*>(a), reinterpret_cast<double*>(d), 132 * 1024, 16);
  mandelbrot<<<dim3(1024 / 32, 1024 / 8), dim3(32, 8)>>>(reinterpret_cast<uint16_t*>(v), 1024, 200);
  rays<<<dim3(768 / 16, 768 / 16), dim3(16, 16)>>>(reinterpret_cast<float4*>(a), reinterpret_cast<uchar4*>(v), 768, 48);
  sha_rounds<<<n / 16 / 256, 256>>>(u, v);
  crc_constant<<<1024, 128>>>(u, v, 8);
  crc_shared<<<1024, 128>>>(u, v, 8);
  polynomial_constant<<<n / 4 / 256, 256>>>(a, d, 64, b);
  hamming<<<264, 256>>>(reinterpret_cast<uint4*>(u), reinterpret_cast<uint4*>(u), v, 256);
  fft_256<<<4096, 64>>>(reinterpret_cast<float2*>(a));
  dct_8x8<<<dim3(1024 / 64, 1024 / 8), dim3(64, 8)>>>(a, d, 1024);
  haar<<<n / 256, 256>>>(reinterpret_cast<float2*>(a), d, e);
  saxpy_stride<<<264, 512>>>(2, a, d, n);
  gelu<<<n / 256, 256>>>(reinterpret_cast<__nv_bfloat162*>(a), reinterpret_cast<__nv_bfloat162*>(d));
  swiglu<<<n / 256, 256>>>(reinterpret_cast<half2*>(a), reinterpret_cast<half2*>(b), reinterpret_cast<half2*>(d));
  rotary<<<n / 256, 256>>>(reinterpret_cast<half2*>(d), reinterpret_cast<float2*>(a), 32);
  quantize<<<n / 4 / 256, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<char4*>(v), d);
  unpack_four_bits<<<n / 4 / 256, 256>>>(u, reinterpret_cast<half*>(a), reinterpret_cast<half2*>(d));
  adam<<<n / 256, 256>>>(a, b, d, e, 3);
  complex_multiply<<<n / 8 / 256, 256>>>(reinterpret_cast<double2*>(a), reinterpret_cast<double2*>(b), reinterpret_cast<double2*>(d));
  double_series<<<528, 128>>>(reinterpret_cast<double*>(a), reinterpret_cast<double*>(d), 24);
  primes<<<n / 16 / 128, 128>>>(u, v);
  collatz<<<n / 16 / 128, 128>>>(u, v);
  return finish();
}
