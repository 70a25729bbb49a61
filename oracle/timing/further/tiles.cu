// SPDX-License-Identifier: Apache-2.0
// Products of matrices by register tiles, tensor cores and asynchronous copies; small batched factorisations.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "../common/common.h"

using namespace nvcuda;

// C = A B, row by row; 64 x 64 of a CTA, 4 x 4 of a thread.
__global__ void __launch_bounds__(256) gemm_registers_4(const float* a, const float* b, float* c, int n, int k) {
  __shared__ float sa[16][64 + 4], sb[16][64];
  const int t = threadIdx.x, row = blockIdx.y * 64, column = blockIdx.x * 64, ty = t / 16, tx = t % 16;
  float sum[4][4] = {};
  for (int at = 0; at < k; at += 16) {
    for (int i = t; i < 64 * 16; i += 256) sa[i % 16][i / 16] = a[(row + i / 16) * k + at + i % 16];
    for (int i = t; i < 16 * 64; i += 256) sb[i / 64][i % 64] = b[(at + i / 64) * n + column + i % 64];
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 16; ++p) {
      float x[4], y[4];
      for (int i = 0; i < 4; ++i) x[i] = sa[p][ty * 4 + i], y[i] = sb[p][tx * 4 + i];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + ty * 4 + i) * n + column + tx * 4 + j] = sum[i][j];
}

// C = A B^T; 128 x 128 of a CTA, 8 x 8 of a thread, vectors.
__global__ void __launch_bounds__(256) gemm_registers_8(const float4* a, const float4* b, float* c, int n, int k) {
  __shared__ float sa[8][128], sb[8][128];
  const int t = threadIdx.x, row = blockIdx.y * 128, column = blockIdx.x * 128, ty = t / 16 * 8, tx = t % 16 * 8;
  float sum[8][8] = {};
  for (int at = 0; at < k; at += 8) {
    const float4 u = a[((row + t / 2) * k + at) / 4 + t % 2], v = b[((column + t / 2) * k + at) / 4 + t % 2];
    const int p = t % 2 * 4, r = t / 2;
    sa[p][r] = u.x, sa[p + 1][r] = u.y, sa[p + 2][r] = u.z, sa[p + 3][r] = u.w;
    sb[p][r] = v.x, sb[p + 1][r] = v.y, sb[p + 2][r] = v.z, sb[p + 3][r] = v.w;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      float x[8], y[8];
      for (int i = 0; i < 8; ++i) x[i] = sa[q][ty + i], y[i] = sb[q][tx + i];
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; j += 4)
      *reinterpret_cast<float4*>(c + (row + ty + i) * n + column + tx + j) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}

// Tensor cores through wmma, fragments from global memory.
__global__ void wmma_global(const __half* a, const __half* b, float* c, int n, int k) {
  const int w = threadIdx.x / 32, row = (blockIdx.y * 4 + w) * 16, column = blockIdx.x * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2];
  for (auto& s : sum) wmma::fill_fragment(s, 0.0f);
  for (int at = 0; at < k; at += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y;
    wmma::load_matrix_sync(x, a + row * k + at, k);
    for (int j = 0; j < 2; ++j) {
      wmma::load_matrix_sync(y, b + at * n + column + j * 16, n);
      wmma::mma_sync(sum[j], x, y, sum[j]);
    }
  }
  for (int j = 0; j < 2; ++j) wmma::store_matrix_sync(c + row * n + column + j * 16, sum[j], n, wmma::mem_row_major);
}

// The same with bf16, tiles in shared memory by cp.async, two stages; 64 x 64 of a CTA of four warps.
__global__ void wmma_two_stages(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, int k) {
  constexpr int kA = 40, kB = 72;
  __shared__ __align__(32) __nv_bfloat16 sa[2][64 * kA], sb[2][32 * kB];
  const int t = threadIdx.x, w = t / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
  const auto ask = [&](int s, int at) {
    for (int i = t; i < 64 * 4; i += 128) __pipeline_memcpy_async(sa[s] + i / 4 * kA + i % 4 * 8, a + (row + i / 4) * k + at + i % 4 * 8, 16);
    for (int i = t; i < 32 * 8; i += 128) __pipeline_memcpy_async(sb[s] + i / 8 * kB + i % 8 * 8, b + (at + i / 8) * n + column + i % 8 * 8, 16);
    __pipeline_commit();
  };
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
  for (auto& s : sum) wmma::fill_fragment(s, 0.0f);
  ask(0, 0);
  for (int at = 0, s = 0; at < k; at += 32, s ^= 1) {
    if (at + 32 < k) ask(s ^ 1, at + 32);
    __pipeline_wait_prior(at + 32 < k ? 1 : 0);
    __syncthreads();
    for (int p = 0; p < 32; p += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> x;
      wmma::load_matrix_sync(x, sa[s] + w * 16 * kA + p, kA);
      for (int j = 0; j < 4; ++j) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> y;
        wmma::load_matrix_sync(y, sb[s] + p * kB + j * 16, kB);
        wmma::mma_sync(sum[j], x, y, sum[j]);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) wmma::store_matrix_sync(c + (row + w * 16) * n + column + j * 16, sum[j], n, wmma::mem_row_major);
}

// mma.sync with ldmatrix on int8; 64 x 64 of a CTA, K in steps of 64 bytes.
__global__ void mma_bytes(const int4* a, const int4* b, int* c, int n, int k) {
  __shared__ __align__(16) int8_t sa[64][80], sb[64][80];
  const int t = threadIdx.x, w = t / 32, lane = t % 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
  int sum[8][4] = {};
  for (int at = 0; at < k; at += 64) {
    for (int i = t; i < 64 * 4; i += 128) {
      *reinterpret_cast<int4*>(&sa[i / 4][i % 4 * 16]) = a[((row + i / 4) * k + at) / 16 + i % 4];
      *reinterpret_cast<int4*>(&sb[i / 4][i % 4 * 16]) = b[((column + i / 4) * k + at) / 16 + i % 4];
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 64; p += 32) {
      unsigned x[4], y[2];
      unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(&sa[w * 16 + lane % 16][p + lane / 16 * 16]));
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(from));
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        from = static_cast<unsigned>(__cvta_generic_to_shared(&sb[j * 8 + lane % 8][p + lane / 8 % 2 * 16]));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(from));
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(sum[j][0]), "+r"(sum[j][1]), "+r"(sum[j][2]), "+r"(sum[j][3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 8; ++j)
    for (int h = 0; h < 2; ++h)
      *reinterpret_cast<int2*>(c + (row + w * 16 + lane / 4 + h * 8) * n + column + j * 8 + lane % 4 * 2) = make_int2(sum[j][2 * h], sum[j][2 * h + 1]);
}

// Products of int8 by dp4a, a warp for a row.
__global__ void gemv_dp4a(const int4* a, const int4* x, int* y, int k) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  int sum = 0;
  for (int i = lane; i < k / 16; i += 32) {
    const int4 u = a[row * (k / 16) + i], v = x[i];
    sum = __dp4a(u.x, v.x, sum), sum = __dp4a(u.y, v.y, sum), sum = __dp4a(u.z, v.z, sum), sum = __dp4a(u.w, v.w, sum);
  }
  for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

// A lower triangle is solved for 32 right sides, a warp for each matrix of 32 x 32.
__global__ void triangular_solve(const float* l, float* x) {
  __shared__ float s[4][32][33];
  const int w = threadIdx.y, lane = threadIdx.x, matrix = blockIdx.x * 4 + w;
  for (int i = 0; i < 32; ++i) s[w][i][lane] = l[matrix * 1024 + i * 32 + lane] + (i == lane ? 40.0f : 0);
  __syncwarp();
  float v[32];
#pragma unroll
  for (int i = 0; i < 32; ++i) v[i] = x[matrix * 1024 + i * 32 + lane];
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    v[i] = v[i] / s[w][i][i];
#pragma unroll
    for (int j = i + 1; j < 32; ++j) v[j] -= s[w][j][i] * v[i];
  }
#pragma unroll
  for (int i = 0; i < 32; ++i) x[matrix * 1024 + i * 32 + lane] = v[i];
}

// Householder's QR of 16 x 16, a thread for each column, two matrices of a warp.
__global__ void qr_small(float* all) {
  __shared__ float s[8][16][17];
  const int m = threadIdx.x / 16, j = threadIdx.x % 16;
  float* const a = all + (blockIdx.x * 8 + m) * 256;
  for (int i = 0; i < 16; ++i) s[m][i][j] = a[i * 16 + j];
  __syncthreads();
  for (int k = 0; k < 15; ++k) {
    float norm = 0;
    for (int i = k; i < 16; ++i) norm += s[m][i][k] * s[m][i][k];
    norm = sqrtf(norm);
    const float head = s[m][k][k], first = head + (head < 0 ? -norm : norm), beta = 2 / (first * first + norm * norm - head * head + 1e-20f);
    float dot = first * s[m][k][j];
    for (int i = k + 1; i < 16; ++i) dot += s[m][i][k] * s[m][i][j];
    __syncthreads();
    if (j > k) {
      s[m][k][j] -= beta * dot * first;
      for (int i = k + 1; i < 16; ++i) s[m][i][j] -= beta * dot * s[m][i][k];
    }
    __syncthreads();
  }
  for (int i = 0; i < 16; ++i) a[i * 16 + j] = s[m][i][j];
}

// LU without pivots of 32 x 32 in shared memory, a CTA for each.
__global__ void lu_batched(float* all) {
  __shared__ float s[32][33];
  const int i = threadIdx.y, j = threadIdx.x;
  float* const a = all + blockIdx.x * 1024;
  s[i][j] = a[i * 32 + j] + (i == j ? 50.0f : 0);
  __syncthreads();
  for (int k = 0; k < 31; ++k) {
    if (j == 0 && i > k) s[i][k] /= s[k][k];
    __syncthreads();
    if (i > k && j > k) s[i][j] -= s[i][k] * s[k][j];
    __syncthreads();
  }
  a[i * 32 + j] = s[i][j];
}

// 8 x 8 products in double, a warp for a pair.
__global__ void batched_double(const double* a, const double* b, double* c) {
  const int lane = threadIdx.x % 32, at = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 64;
  for (int h = 0; h < 2; ++h) {
    const int i = lane / 8 + 4 * h, j = lane % 8;
    double sum = 0;
#pragma unroll
    for (int p = 0; p < 8; ++p) sum += a[at + i * 8 + p] * b[at + p * 8 + j];
    c[at + i * 8 + j] = sum;
  }
}

// Half, 32 x 32 tiles, HFMA2.
__global__ void gemm_halves(const __half2* a, const __half2* b, __half2* c, int n, int k) {
  __shared__ __half2 sa[32][17], sb[32][16];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, column = blockIdx.x * 16 + tx;
  __half2 sum = __float2half2_rn(0);
  for (int at = 0; at < k; at += 32) {
    sa[ty][tx] = a[row * k / 2 + at / 2 + tx], sb[ty][tx] = b[(at + ty) * n / 2 + column];
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 16; ++p) {
      sum = __hfma2(__low2half2(sa[ty][p]), sb[2 * p][tx], sum);
      sum = __hfma2(__high2half2(sa[ty][p]), sb[2 * p + 1][tx], sum);
    }
    __syncthreads();
  }
  c[row * n / 2 + column] = sum;
}

int main() {
  const int n = 1024;
  float *a = floats(n * n), *b = floats(n * n), *c = zeros<float>(n * n);
  const auto half = [](size_t) { return __float2half(static_cast<float>(next_random() % 64) / 64 - 0.5f); };
  const auto brain = [](size_t) { return __float2bfloat16(static_cast<float>(next_random() % 64) / 64 - 0.5f); };
  __half *ha = filled<__half>(n * n, half), *hb = filled<__half>(n * n, half), *hc = zeros<__half>(n * n);
  __nv_bfloat16 *fa = filled<__nv_bfloat16>(n * n, brain), *fb = filled<__nv_bfloat16>(n * n, brain);
  uint32_t *ia = numbers(n * n), *ib = numbers(n * n);
  gemm_registers_4<<<dim3(n / 64, n / 64), 256>>>(a, b, c, n, 512);
  gemm_registers_8<<<dim3(n / 128, n / 128), 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(b), c, n, 512);
  wmma_global<<<dim3(n / 32, n / 64), 128>>>(ha, hb, c, n, 512);
  wmma_two_stages<<<dim3(n / 64, n / 64), 128>>>(fa, fb, c, n, n);
  mma_bytes<<<dim3(n / 64, n / 64), 128>>>(reinterpret_cast<int4*>(ia), reinterpret_cast<int4*>(ib), reinterpret_cast<int*>(c), n, 2048);
  gemv_dp4a<<<256, dim3(32, 4)>>>(reinterpret_cast<int4*>(ia), reinterpret_cast<int4*>(ib), reinterpret_cast<int*>(c), 4096);
  triangular_solve<<<256, dim3(32, 4)>>>(a, b);
  qr_small<<<512, 128>>>(a);
  lu_batched<<<1024, dim3(32, 32)>>>(b);
  double* d = filled<double>(1 << 20, [](size_t) { return static_cast<double>(next_random() % 100) / 50 - 1; });
  batched_double<<<(1 << 20) / 64 / 8, 256>>>(d, d, zeros<double>(1 << 20));
  gemm_halves<<<dim3(n / 32, n / 32), dim3(16, 32)>>>(reinterpret_cast<__half2*>(ha), reinterpret_cast<__half2*>(hb), reinterpret_cast<__half2*>(hc), n, 256);
  return finish();
}
