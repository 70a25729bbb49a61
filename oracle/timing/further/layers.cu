// SPDX-License-Identifier: Apache-2.0
// Layers of networks: elementwise in half and bf16, normalisations, softmax, attention, convolutions, pooling,
// sampling.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../common/common.h"

__device__ inline float warp_sum(float v) {
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}
__device__ inline float warp_max(float v) {
  for (int d = 16; d; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
  return v;
}

__global__ void silu_half(const uint4* in, uint4* out) {  // eight halves of a thread
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 v = in[i];
  __half2* const h = reinterpret_cast<__half2*>(&v);
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    float2 f = __half22float2(h[k]);
    f.x = f.x / (1 + __expf(-f.x)), f.y = f.y / (1 + __expf(-f.y));
    h[k] = __float22half2_rn(f);
  }
  out[i] = v;
}

__global__ void add_bias_bf16(const __nv_bfloat162* in, const __nv_bfloat162* bias, __nv_bfloat162* out, int width, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const __nv_bfloat162 v = __hadd2(in[i], bias[i % width]);
    out[i] = __hmax2(v, __float2bfloat162_rn(0));
  }
}

__global__ void softmax_512(const float4* in, float4* out) {  // rows of 2048, a CTA of 512 each
  __shared__ float part[16], all;
  const int t = threadIdx.x, at = blockIdx.x * 512 + t;
  float4 v = in[at];
  float m = warp_max(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  if (t % 32 == 0) part[t / 32] = m;
  __syncthreads();
  if (t < 32) {
    m = warp_max(part[t % 16]);
    if (t == 0) all = m;
  }
  __syncthreads();
  m = all;
  v.x = __expf(v.x - m), v.y = __expf(v.y - m), v.z = __expf(v.z - m), v.w = __expf(v.w - m);
  float s = warp_sum(v.x + v.y + v.z + v.w);
  __syncthreads();
  if (t % 32 == 0) part[t / 32] = s;
  __syncthreads();
  if (t < 32) {
    s = warp_sum(t < 16 ? part[t] : 0);
    if (t == 0) all = s;
  }
  __syncthreads();
  s = 1 / all;
  out[at] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
}

__global__ void layernorm_warp(const __half2* in, const float2* gamma, __half2* out) {  // rows of 512
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  float2 v[8];
  float s = 0, q = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = __half22float2(in[row * 256 + k * 32 + lane]), s += v[k].x + v[k].y, q += v[k].x * v[k].x + v[k].y * v[k].y;
  s = warp_sum(s) / 512, q = rsqrtf(warp_sum(q) / 512 - s * s + 1e-5f);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float2 g = gamma[k * 32 + lane];
    out[row * 256 + k * 32 + lane] = __floats2half2_rn((v[k].x - s) * q * g.x, (v[k].y - s) * q * g.y);
  }
}

__global__ void groupnorm(const float* in, float* out, int size) {  // a CTA for each group, three passes
  __shared__ float part[2][32];
  const int t = threadIdx.x, w = t / 32;
  const float* const mine = in + static_cast<size_t>(blockIdx.x) * size;
  float s = 0, q = 0;
  for (int i = t; i < size; i += blockDim.x) s += mine[i], q += mine[i] * mine[i];
  s = warp_sum(s), q = warp_sum(q);
  if (t % 32 == 0) part[0][w] = s, part[1][w] = q;
  __syncthreads();
  s = q = 0;
  for (int k = 0; k < blockDim.x / 32; ++k) s += part[0][k], q += part[1][k];
  s /= size, q = rsqrtf(q / size - s * s + 1e-5f);
  for (int i = t; i < size; i += blockDim.x) out[static_cast<size_t>(blockIdx.x) * size + i] = (mine[i] - s) * q;
}

// Prefill: a CTA for 64 queries of a head, keys in tiles of 32, a thread for each query, 64 wide.
__global__ void __launch_bounds__(64) attention_prefill(const float* q, const float* k, const float* v, float* out, int length) {
  __shared__ float sk[32][64], sv[32][64];
  const int t = threadIdx.x, head = blockIdx.y;
  const size_t base = static_cast<size_t>(head) * length * 64;
  float mine[64], sum[64] = {}, most = -1e30f, all = 0;
  for (int d = 0; d < 64; ++d) mine[d] = q[base + (blockIdx.x * 64 + t) * 64 + d] * 0.125f;
  for (int at = 0; at < length; at += 32) {
    for (int i = t; i < 32 * 64; i += 64) sk[i / 64][i % 64] = k[base + at * 64 + i], sv[i / 64][i % 64] = v[base + at * 64 + i];
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      float s = 0;
#pragma unroll
      for (int d = 0; d < 64; ++d) s += mine[d] * sk[j][d];
      const float m = fmaxf(most, s), scale = __expf(most - m), p = __expf(s - m);
      all = all * scale + p, most = m;
#pragma unroll
      for (int d = 0; d < 64; ++d) sum[d] = sum[d] * scale + p * sv[j][d];
    }
    __syncthreads();
  }
  for (int d = 0; d < 64; ++d) out[base + (blockIdx.x * 64 + t) * 64 + d] = sum[d] / all;
}

// Decode: one query of each head against a cache in half, a CTA for a part of the cache.
__global__ void attention_split(const __half2* q, const __half2* keys, const __half2* values, float* out, int length) {
  __shared__ float score[128], part[4][64];
  const int t = threadIdx.x, w = t / 32, lane = t % 32, head = blockIdx.y;
  const size_t first = (static_cast<size_t>(head) * length + blockIdx.x * 128) * 32;
  const float2 mine = __half22float2(q[head * 32 + lane]);
  for (int j = w; j < 128; j += 4) {
    const float2 k = __half22float2(keys[first + j * 32 + lane]);
    const float s = warp_sum(k.x * mine.x + k.y * mine.y);
    if (lane == 0) score[j] = __expf(s * 0.125f);
  }
  __syncthreads();
  float2 sum = make_float2(0, 0);
  for (int j = w; j < 128; j += 4) {
    const float2 v = __half22float2(values[first + j * 32 + lane]);
    sum.x += score[j] * v.x, sum.y += score[j] * v.y;
  }
  part[w][2 * lane] = sum.x, part[w][2 * lane + 1] = sum.y;
  __syncthreads();
  if (t < 64) out[(head * gridDim.x + blockIdx.x) * 64 + t] = part[0][t] + part[1][t] + part[2][t] + part[3][t];
}

// 32 pairs of a head, positions in three directions.
__global__ void rotary_3d(float2* x, const int3* where, int heads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, pair = i % 32, token = i / 32 / heads;
  const int3 p = where[token];
  const float at = static_cast<float>(pair < 10 ? p.x : pair < 20 ? p.y : p.z), angle = at * exp2f(-0.4f * (pair % 10));
  float s, c;
  sincosf(angle, &s, &c);
  const float2 v = x[i];
  x[i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

// Eight of a word, groups of 128.
__global__ void dequantise_int4(const uint32_t* in, const __half* scale, uint4* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t v = in[i];
  const __half2 s = __half2half2(scale[i / 16]);
  __half2 h[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) h[k] = __hmul2(s, __floats2half2_rn(static_cast<int>(v >> (8 * k) & 15) - 8, static_cast<int>(v >> (8 * k + 4) & 15) - 8));
  out[i] = *reinterpret_cast<uint4*>(h);
}

__global__ void quantise_rows(const float4* in, char4* out, float* scales) {  // rows of 1024, 256 threads
  __shared__ float part[8];
  const int t = threadIdx.x, at = blockIdx.x * 256 + t;
  const float4 v = in[at];
  float m = warp_max(fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
  if (t % 32 == 0) part[t / 32] = m;
  __syncthreads();
  m = part[0];
  for (int k = 1; k < 8; ++k) m = fmaxf(m, part[k]);
  const float s = 127 / m;
  out[at] = make_char4(__float2int_rn(v.x * s), __float2int_rn(v.y * s), __float2int_rn(v.z * s), __float2int_rn(v.w * s));
  if (t == 0) scales[blockIdx.x] = m / 127;
}

__global__ void conv_1d(const float* in, const float* weights, float* out, int length, int channels) {  // width 9
  __shared__ float s[256 + 8];
  const int t = threadIdx.x, x = blockIdx.x * 256 + t, to = blockIdx.y;
  float sum = 0;
  for (int c = 0; c < channels; ++c) {
    const float* const row = in + c * length;
    s[t + 4] = row[x];
    if (t < 4) s[t] = x >= 4 ? row[x - 4] : 0, s[t + 260] = x + 256 < length ? row[x + 256] : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 9; ++k) sum += s[t + k] * weights[(to * channels + c) * 9 + k];
    __syncthreads();
  }
  out[to * length + x] = sum;
}

__global__ void depthwise_5(const float* in, const float* weights, float* out, int n) {  // 5 x 5, channels in y
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, c = blockIdx.z;
  float sum = 0;
#pragma unroll
  for (int j = -2; j <= 2; ++j)
#pragma unroll
    for (int i = -2; i <= 2; ++i)
      if (x + i >= 0 && x + i < n && y + j >= 0 && y + j < n) sum += in[(c * n + y + j) * n + x + i] * weights[c * 25 + (j + 2) * 5 + i + 2];
  out[(c * n + y) * n + x] = sum;
}

__global__ void conv_1x1(const float* in, const float* weights, float* out, int area) {  // 32 channels to 32
  __shared__ float w[32][32];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) w[i / 32][i % 32] = weights[i];
  __syncthreads();
  const int p = blockIdx.x * blockDim.x + threadIdx.x;
  float v[32];
#pragma unroll
  for (int c = 0; c < 32; ++c) v[c] = in[c * area + p];
  for (int to = 0; to < 32; ++to) {
    float sum = 0;
#pragma unroll
    for (int c = 0; c < 32; ++c) sum += w[to][c] * v[c];
    out[to * area + p] = fmaxf(sum, 0);
  }
}

__global__ void average_pool(const float4* in, float2* out, int width) {  // 2 x 2, two results of a thread
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  const float4 a = in[(2 * y) * width / 4 + x], b = in[(2 * y + 1) * width / 4 + x];
  out[y * width / 4 + x] = make_float2((a.x + a.y + b.x + b.y) / 4, (a.z + a.w + b.z + b.w) / 4);
}

__global__ void top_k_rows(const float* in, float* out, int width) {  // eight of a row, a warp for each row
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  float best[8];
  for (float& b : best) b = -1e30f;
  for (int i = lane; i < width; i += 32) {
    float v = in[row * width + i];
    if (v <= best[7]) continue;
#pragma unroll
    for (int k = 0; k < 8; ++k)
      if (v > best[k]) {
        const float u = best[k];
        best[k] = v, v = u;
      }
  }
  for (int k = 0; k < 8; ++k) {
    const float m = warp_max(best[0]);
    const bool mine = best[0] == m;
    if (__ffs(__ballot_sync(~0u, mine)) - 1 == lane) {
#pragma unroll
      for (int j = 0; j < 7; ++j) best[j] = best[j + 1];
      best[7] = -1e30f;
    }
    if (lane == 0) out[row * 8 + k] = m;
  }
}

// Where the sum passes a number.
__global__ void sample_rows(const float* in, const float* uniform, int* out, int width) {
  __shared__ float part[8];
  __shared__ int found;
  const int t = threadIdx.x, lane = t % 32, w = t / 32;
  const float* const row = in + blockIdx.x * width;
  float total = 0;
  for (int i = t; i < width; i += 256) total += row[i] + 1;
  total = warp_sum(total);
  if (lane == 0) part[w] = total;
  if (t == 0) found = width - 1;
  __syncthreads();
  total = 0;
  for (int k = 0; k < 8; ++k) total += part[k];
  const float want = uniform[blockIdx.x] * total;
  float before = 0;
  for (int at = 0; at < width; at += 256) {
    float v = row[at + t] + 1;
    for (int d = 1; d < 32; d *= 2) {
      const float u = __shfl_up_sync(~0u, v, d);
      if (lane >= d) v += u;
    }
    __syncthreads();
    if (lane == 31) part[w] = v;
    __syncthreads();
    float low = before;
    for (int k = 0; k < 8; ++k) low += k < w ? part[k] : 0, before += part[k];
    if (low + v >= want) atomicMin(&found, at + t);
    if (__syncthreads_or(low + v >= want)) break;
  }
  __syncthreads();
  if (t == 0) out[blockIdx.x] = found;
}

int main() {
  const int n = 8 << 20;
  float *a = floats(n), *b = zeros<float>(n);
  const auto half = [](size_t) { return __float2half(static_cast<float>(next_random() % 2048) / 1024 - 1); };
  __half *h = filled<__half>(n, half), *g = zeros<__half>(n);
  uint32_t* u = numbers(1 << 20);
  silu_half<<<n / 8 / 256, 256>>>(reinterpret_cast<uint4*>(h), reinterpret_cast<uint4*>(g));
  add_bias_bf16<<<1056, 256>>>(reinterpret_cast<__nv_bfloat162*>(h), reinterpret_cast<__nv_bfloat162*>(h), reinterpret_cast<__nv_bfloat162*>(g), 768, n / 4);
  softmax_512<<<2048, 512>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(b));
  layernorm_warp<<<8192 / 4, 128>>>(reinterpret_cast<__half2*>(h), reinterpret_cast<float2*>(a), reinterpret_cast<__half2*>(g));
  groupnorm<<<256, 512>>>(a, b, 16384);
  attention_prefill<<<dim3(8, 32), 64>>>(a, a + (1 << 20), a + (2 << 20), b, 512);
  attention_split<<<dim3(8, 64), 128>>>(reinterpret_cast<__half2*>(h), reinterpret_cast<__half2*>(h), reinterpret_cast<__half2*>(g), b, 1024);
  rotary_3d<<<(1 << 20) / 256, 256>>>(reinterpret_cast<float2*>(a), filled<int3>(4096, [](size_t i) { return make_int3(i / 256, i / 16 % 16, i % 16); }), 8);
  dequantise_int4<<<(1 << 20) / 128, 128>>>(u, h, reinterpret_cast<uint4*>(b));
  quantise_rows<<<4096, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<char4*>(g), b);
  conv_1d<<<dim3(32, 32), 256>>>(a, b, b + (1 << 20), 8192, 16);
  depthwise_5<<<dim3(8, 32, 32), dim3(32, 8)>>>(a, b, b + (1 << 20), 256);
  conv_1x1<<<65536 / 128, 128>>>(a, b, b + (1 << 20), 65536);
  average_pool<<<dim3(2, 1024), 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float2*>(b), 2048);
  top_k_rows<<<512, 128>>>(a, b, 2048);
  sample_rows<<<264, 256>>>(a, filled<float>(264, [](size_t) { return static_cast<float>(next_random() % 1000) / 1000; }), reinterpret_cast<int*>(b), 8192);
  return finish();
}
