// SPDX-License-Identifier: Apache-2.0
// Products of matrices, attention and convolutions, as they are commonly written.
#include <cuda_fp16.h>
#include <mma.h>

#include "common.h"

__global__ void gemm_naive(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

template <int kTile>
__global__ void gemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float as[kTile][kTile], bs[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    as[ty][tx] = a[row * n + t + tx];
    bs[ty][tx] = b[(t + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// 128 x 128 of a CTA, 8 x 8 of a thread.
__global__ void __launch_bounds__(256) gemm_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float as[8][128], bs[8][128];
  const int t = threadIdx.x, row0 = blockIdx.y * 128, col0 = blockIdx.x * 128;
  const int ar = t / 2, ac = t % 2 * 4, br = t / 32, bc = t % 32 * 4;
  const int ty = t / 16 * 8, tx = t % 16 * 8;
  float sum[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
    const float4 va = *reinterpret_cast<const float4*>(a + (row0 + ar) * n + k0 + ac);
    as[ac][ar] = va.x, as[ac + 1][ar] = va.y, as[ac + 2][ar] = va.z, as[ac + 3][ar] = va.w;
    *reinterpret_cast<float4*>(&bs[br][bc]) = *reinterpret_cast<const float4*>(b + (k0 + br) * n + col0 + bc);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float x[8], y[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) x[i] = as[k][ty + i], y[i] = bs[k][tx + i];
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) c[(row0 + ty + i) * n + col0 + tx + j] = sum[i][j];
}

// The same with the next tiles on their way while these are used.
__global__ void __launch_bounds__(256) gemm_two_buffers(const float* a, const float* b, float* c, int n) {
  __shared__ float as[2][16][64 + 4], bs[2][16][64];
  const int t = threadIdx.x, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  const int ar = t / 4, ac = t % 4 * 4, br = t / 16, bc = t % 16 * 4, ty = t / 16 * 4, tx = t % 16 * 4;
  float sum[4][4] = {};
  float4 va = *reinterpret_cast<const float4*>(a + (row0 + ar) * n + ac);
  float4 vb = *reinterpret_cast<const float4*>(b + br * n + col0 + bc);
  int now = 0;
  for (int k0 = 0; k0 < n; k0 += 16, now ^= 1) {
    as[now][ac][ar] = va.x, as[now][ac + 1][ar] = va.y, as[now][ac + 2][ar] = va.z, as[now][ac + 3][ar] = va.w;
    *reinterpret_cast<float4*>(&bs[now][br][bc]) = vb;
    __syncthreads();
    if (k0 + 16 < n) {
      va = *reinterpret_cast<const float4*>(a + (row0 + ar) * n + k0 + 16 + ac);
      vb = *reinterpret_cast<const float4*>(b + (k0 + 16 + br) * n + col0 + bc);
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float4 x = *reinterpret_cast<float4*>(&as[now][k][ty]), y = *reinterpret_cast<float4*>(&bs[now][k][tx]);
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += xs[i] * ys[j];
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(c + (row0 + ty + i) * n + col0 + tx) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

// 64 x 64 of a CTA of four warps, by tensor cores.
__global__ void __launch_bounds__(128) gemm_wmma(const half* a, const half* b, float* c, int n) {
  using namespace nvcuda::wmma;
  __shared__ half as[64][16 + 8], bs[16][64 + 8];
  const int t = threadIdx.x, w = t / 32, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
  fragment<accumulator, 16, 16, 16, float> sum[4];
  for (auto& s : sum) fill_fragment(s, 0.0f);
  for (int k0 = 0; k0 < n; k0 += 16) {
    *reinterpret_cast<uint4*>(&as[t / 2][t % 2 * 8]) = *reinterpret_cast<const uint4*>(a + (row0 + t / 2) * n + k0 + t % 2 * 8);
    *reinterpret_cast<uint4*>(&bs[t / 8][t % 8 * 8]) = *reinterpret_cast<const uint4*>(b + (k0 + t / 8) * n + col0 + t % 8 * 8);
    __syncthreads();
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    load_matrix_sync(fa, &as[w * 16][0], 24);
    for (int j = 0; j < 4; ++j) {
      fragment<matrix_b, 16, 16, 16, half, row_major> fb;
      load_matrix_sync(fb, &bs[0][j * 16], 72);
      mma_sync(sum[j], fa, fb, sum[j]);
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) store_matrix_sync(c + (row0 + w * 16) * n + col0 + j * 16, sum[j], n, mem_row_major);
}

__device__ uint32_t at(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void copy16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(to)), "l"(from) : "memory");
}

// 128 x 128 of a CTA of eight warps, mma with ldmatrix, three stages of cp.async.
constexpr int kStages = 3;
__global__ void __launch_bounds__(256) gemm_mma_pipeline(const half* a, const half* b, half* c, int n) {
  extern __shared__ half memory[];
  constexpr int kK = 32, kPitch = kK + 8;
  half* as = memory;
  half* bs = memory + kStages * 128 * kPitch;
  const int t = threadIdx.x, w = t / 32, lane = t % 32, row0 = blockIdx.y * 128, col0 = blockIdx.x * 128;
  const int wr = w / 2 * 32, wc = w % 2 * 64;
  const auto load = [&](int stage, int k0) {
    for (int i = t; i < 128 * kK / 8; i += 256) {
      const int r = i / (kK / 8), q = i % (kK / 8) * 8;
      copy16(as + (stage * 128 + r) * kPitch + q, a + (row0 + r) * n + k0 + q);
      copy16(bs + (stage * 128 + r) * kPitch + q, b + (col0 + r) * n + k0 + q);  // b is transposed
    }
    asm volatile("cp.async.commit_group;");
  };
  float sum[2][8][4] = {};
  for (int s = 0; s < kStages - 1; ++s) load(s, s * kK);
  for (int k0 = 0, s = 0; k0 < n; k0 += kK, s = (s + 1) % kStages) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
    __syncthreads();
    if (k0 + (kStages - 1) * kK < n)
      load((s + kStages - 1) % kStages, k0 + (kStages - 1) * kK);
    else
      asm volatile("cp.async.commit_group;");
#pragma unroll
    for (int k = 0; k < kK; k += 16) {
      uint32_t fa[2][4], fb[8][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const half* p = as + (s * 128 + wr + i * 16 + lane % 16) * kPitch + k + lane / 16 * 8;
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                     : "r"(at(p)));
      }
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const half* p = bs + (s * 128 + wc + j * 8 + lane % 8) * kPitch + k + lane / 8 % 2 * 8;
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(fb[j][0]), "=r"(fb[j][1]) : "r"(at(p)));
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
              : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
              : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
    }
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 8; ++j) {
      half* p = c + (row0 + wr + i * 16 + lane / 4) * n + col0 + wc + j * 8 + lane % 4 * 2;
      *reinterpret_cast<half2*>(p) = __floats2half2_rn(sum[i][j][0], sum[i][j][1]);
      *reinterpret_cast<half2*>(p + 8 * n) = __floats2half2_rn(sum[i][j][2], sum[i][j][3]);
    }
}

__global__ void gemv_rows(const float* a, const float* x, float* y, int n) {  // a warp each
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int k = lane * 4; k < n; k += 128) {
    const float4 u = *reinterpret_cast<const float4*>(a + static_cast<size_t>(row) * n + k), v = *reinterpret_cast<const float4*>(x + k);
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void gemv_columns(const float* a, const float* x, float* y, int n) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = blockIdx.y * 64; k < blockIdx.y * 64 + 64; ++k) sum += a[static_cast<size_t>(k) * n + col] * x[k];
  atomicAdd(y + col, sum);
}

__global__ void batched_small(const float* a, const float* b, float* c) {  // 4 x 4, a thread each
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  float x[16], y[16];
  for (int k = 0; k < 4; ++k) {
    const float4 u = reinterpret_cast<const float4*>(a)[i * 4 + k], v = reinterpret_cast<const float4*>(b)[i * 4 + k];
    x[k * 4] = u.x, x[k * 4 + 1] = u.y, x[k * 4 + 2] = u.z, x[k * 4 + 3] = u.w;
    y[k * 4] = v.x, y[k * 4 + 1] = v.y, y[k * 4 + 2] = v.z, y[k * 4 + 3] = v.w;
  }
  for (int r = 0; r < 4; ++r) {
    float z[4];
    for (int q = 0; q < 4; ++q) z[q] = x[r * 4] * y[q] + x[r * 4 + 1] * y[4 + q] + x[r * 4 + 2] * y[8 + q] + x[r * 4 + 3] * y[12 + q];
    reinterpret_cast<float4*>(c)[i * 4 + r] = make_float4(z[0], z[1], z[2], z[3]);
  }
}

// A tile of 32 queries, keys and values by tiles of 32; a row of the scores is held by a warp.
__global__ void __launch_bounds__(256) attention_tiles(const float* q, const float* k, const float* v, float* o, int n) {
  constexpr int kD = 64;
  __shared__ float qs[32][kD + 1], ks[32][kD + 1], vs[32][kD];
  const int t = threadIdx.x, w = t / 32, lane = t % 32;
  const size_t head = blockIdx.y * static_cast<size_t>(n) * kD;
  for (int i = t; i < 32 * kD; i += 256) qs[i / kD][i % kD] = q[head + blockIdx.x * 32 * kD + i] * 0.125f;
  float most[4], all[4], out[4][2];
  for (int r = 0; r < 4; ++r) most[r] = -1e30f, all[r] = 0, out[r][0] = out[r][1] = 0;
  for (int tile = 0; tile < n; tile += 32) {
    __syncthreads();
    for (int i = t; i < 32 * kD; i += 256) ks[i / kD][i % kD] = k[head + tile * kD + i], vs[i / kD][i % kD] = v[head + tile * kD + i];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      float s = 0;
      for (int d = 0; d < kD; ++d) s += qs[w * 4 + r][d] * ks[lane][d];
      float m = s;
      for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
      m = fmaxf(m, most[r]);
      const float p = __expf(s - m), old = __expf(most[r] - m);
      float sum = p;
      for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
      all[r] = all[r] * old + sum, most[r] = m;
      out[r][0] *= old, out[r][1] *= old;
      for (int j = 0; j < 32; ++j) {
        const float pj = __shfl_sync(~0u, p, j);
        out[r][0] += pj * vs[j][lane], out[r][1] += pj * vs[j][lane + 32];
      }
    }
  }
  for (int r = 0; r < 4; ++r) {
    o[head + (blockIdx.x * 32 + w * 4 + r) * kD + lane] = out[r][0] / all[r];
    o[head + (blockIdx.x * 32 + w * 4 + r) * kD + lane + 32] = out[r][1] / all[r];
  }
}

// One query against many keys: a CTA each head.
__global__ void attention_decode(const half* k, const half* v, const float* q, float* o, int n) {
  constexpr int kD = 128;
  extern __shared__ float scores[];
  __shared__ float qs[kD], part[32];
  const int t = threadIdx.x, w = t / 32, lane = t % 32, warps = blockDim.x / 32;
  const size_t head = blockIdx.x * static_cast<size_t>(n) * kD;
  if (t < kD) qs[t] = q[blockIdx.x * kD + t];
  __syncthreads();
  float most = -1e30f;
  for (int i = w; i < n; i += warps) {
    const uint2 raw = *reinterpret_cast<const uint2*>(k + head + static_cast<size_t>(i) * kD + lane * 4);
    const float2 a = __half22float2(*reinterpret_cast<const half2*>(&raw.x)), b = __half22float2(*reinterpret_cast<const half2*>(&raw.y));
    float s = a.x * qs[lane * 4] + a.y * qs[lane * 4 + 1] + b.x * qs[lane * 4 + 2] + b.y * qs[lane * 4 + 3];
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    if (lane == 0) scores[i] = s;
    most = fmaxf(most, s);
  }
  if (lane == 0) part[w] = most;
  __syncthreads();
  for (int i = 0; i < warps; ++i) most = fmaxf(most, part[i]);
  float sum = 0;
  for (int i = t; i < n; i += blockDim.x) sum += scores[i] = __expf(scores[i] - most);
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  __syncthreads();
  if (lane == 0) part[w] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < warps; ++i) sum += part[i];
  float out = 0;
  for (int i = t / kD; i < n; i += blockDim.x / kD) out += scores[i] * __half2float(v[head + static_cast<size_t>(i) * kD + t % kD]);
  atomicAdd(o + blockIdx.x * kD + t % kD, out / sum);
}

__global__ void conv_direct(const float* in, const float* weights, float* out, int channels, int n) {  // 3 x 3
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, f = blockIdx.z;
  float sum = 0;
  for (int c = 0; c < channels; ++c)
    for (int dy = 0; dy < 3; ++dy)
      for (int dx = 0; dx < 3; ++dx) {
        const int u = x + dx - 1, v = y + dy - 1;
        if (u >= 0 && u < n && v >= 0 && v < n) sum += in[(c * n + v) * n + u] * weights[((f * channels + c) * 3 + dy) * 3 + dx];
      }
  out[(f * n + y) * n + x] = sum;
}

__global__ void conv_shared(const float* in, const float* weights, float* out, int channels, int n) {
  __shared__ float tile[18][18], w[8][9];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, x0 = blockIdx.x * 16, y0 = blockIdx.y * 16, f = blockIdx.z * 8;
  float sum[8] = {};
  for (int c = 0; c < channels; ++c) {
    __syncthreads();
    for (int i = t; i < 18 * 18; i += 256) {
      const int u = x0 + i % 18 - 1, v = y0 + i / 18 - 1;
      tile[i / 18][i % 18] = u >= 0 && u < n && v >= 0 && v < n ? in[(c * n + v) * n + u] : 0;
    }
    if (t < 72) w[t / 9][t % 9] = weights[((f + t / 9) * channels + c) * 9 + t % 9];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 9; ++k) {
      const float v = tile[ty + k / 3][tx + k % 3];
#pragma unroll
      for (int j = 0; j < 8; ++j) sum[j] += v * w[j][k];
    }
  }
  for (int j = 0; j < 8; ++j) out[((f + j) * n + y0 + ty) * n + x0 + tx] = sum[j];
}

__global__ void depthwise(const float* in, const float* weights, float* out, int n) {  // channels last
  const int c = threadIdx.x, x = blockIdx.x, y = blockIdx.y, channels = blockDim.x;
  float sum = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx) {
      const int u = min(max(x + dx, 0), n - 1), v = min(max(y + dy, 0), n - 1);
      sum += in[(v * n + u) * channels + c] * weights[((dy + 1) * 3 + dx + 1) * channels + c];
    }
  out[(y * n + x) * channels + c] = sum;
}

int main() {
  const int n = 512, big = 1024;
  float *a = floats(big * big), *b = floats(big * big), *c = zeros<float>(big * big);
  half* ha = filled<half>(big * big, [](size_t) { return __float2half(static_cast<float>(next_random() % 64) / 64); });
  half* hb = filled<half>(big * big, [](size_t) { return __float2half(static_cast<float>(next_random() % 64) / 64); });
  half* hc = zeros<half>(big * big);
  gemm_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, b, c, n);
  gemm_tiled<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n);
  gemm_tiled<32><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(a, b, c, n);
  gemm_registers<<<dim3(big / 128, big / 128), 256>>>(a, b, c, big);
  gemm_two_buffers<<<dim3(big / 64, big / 64), 256>>>(a, b, c, big);
  gemm_wmma<<<dim3(big / 64, big / 64), 128>>>(ha, hb, c, big);
  const int bytes = kStages * 2 * 128 * 40 * 2;
  must(cudaFuncSetAttribute(gemm_mma_pipeline, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "attribute");
  gemm_mma_pipeline<<<dim3(big / 128, big / 128), 256, bytes>>>(ha, hb, hc, big);
  float *wide = floats(4096 * 2048), *x = floats(4096), *y = zeros<float>(4096);
  gemv_rows<<<4096 * 32 / 256, 256>>>(wide, x, y, 2048);
  gemv_columns<<<dim3(2048 / 256, 64), 256>>>(wide, x, y, 2048);
  batched_small<<<131072 / 256, 256>>>(wide, wide + 2097152, wide + 4194304);
  attention_tiles<<<dim3(512 / 32, 16), 256>>>(a, b, a + 524288, c, 512);
  half* keys = zeros<half>(132 * 1024 * 128);
  attention_decode<<<132, 256, 1024 * 4>>>(keys, keys, a, c, 1024);
  conv_direct<<<dim3(4, 16, 32), dim3(32, 8)>>>(a, b, c, 16, 128);
  conv_shared<<<dim3(8, 8, 8), dim3(16, 16)>>>(a, b, c, 16, 128);
  depthwise<<<dim3(128, 128), 64>>>(a, b, c, 128);
  return finish();
}
