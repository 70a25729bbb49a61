// SPDX-License-Identifier: Apache-2.0
// Reductions, scans and normalisations of rows, as they are commonly written.
#include <cuda_fp16.h>

#include "common.h"

__device__ float sum_of_warp(float v) {
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}
__device__ float most_of_warp(float v) {
  for (int d = 16; d; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
  return v;
}
template <class F>
__device__ float of_block(float v, float neutral, F f) {
  __shared__ float part[32];
  const int lane = threadIdx.x % 32, w = threadIdx.x / 32;
  for (int d = 16; d; d /= 2) v = f(v, __shfl_xor_sync(~0u, v, d));
  __syncthreads();
  if (lane == 0) part[w] = v;
  __syncthreads();
  v = lane < blockDim.x / 32 ? part[lane] : neutral;
  for (int d = 16; d; d /= 2) v = f(v, __shfl_xor_sync(~0u, v, d));
  return v;
}

__global__ void reduce_tree(const float* in, float* out) {
  __shared__ float s[512];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 1024 + t] + in[blockIdx.x * 1024 + 512 + t];
  __syncthreads();
  for (int d = 256; d; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_interleaved(const int* in, int* out) {  // with divergent warps
  __shared__ int s[256];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

__global__ void reduce_stride(const float4* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  sum = of_block(sum, 0, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

__global__ void dot_double(const double* a, const double* b, double* out, int n) {
  __shared__ double part[8];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) sum += part[w];
    atomicAdd(out, sum);
  }
}

__global__ void softmax_warp(const float* in, float* out, int n) {  // a row each, in registers
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float v[16], m = -1e30f, sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) v[k] = in[static_cast<size_t>(row) * n + k * 32 + lane], m = fmaxf(m, v[k]);
  m = most_of_warp(m);
#pragma unroll
  for (int k = 0; k < 16; ++k) v[k] = __expf(v[k] - m), sum += v[k];
  sum = sum_of_warp(sum);
#pragma unroll
  for (int k = 0; k < 16; ++k) out[static_cast<size_t>(row) * n + k * 32 + lane] = v[k] / sum;
}

__global__ void softmax_block(const float* in, float* out, int n) {  // three passes over memory
  const float* row = in + static_cast<size_t>(blockIdx.x) * n;
  float m = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, row[i]);
  m = of_block(m, -1e30f, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - m);
  sum = of_block(sum, 0, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[static_cast<size_t>(blockIdx.x) * n + i] = expf(row[i] - m) / sum;
}

__global__ void softmax_online(const float* in, float* out, int n) {
  const float* row = in + static_cast<size_t>(blockIdx.x) * n;
  float m = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float v = row[i], more = fmaxf(m, v);
    sum = sum * __expf(m - more) + __expf(v - more), m = more;
  }
  const float all = of_block(m, -1e30f, [](float a, float b) { return fmaxf(a, b); });
  sum = of_block(sum * __expf(m - all), 0, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[static_cast<size_t>(blockIdx.x) * n + i] = __expf(row[i] - all) / sum;
}

__global__ void layernorm(const float* in, const float* gain, const float* bias, float* out, int n) {
  const float* row = in + static_cast<size_t>(blockIdx.x) * n;
  float sum = 0, square = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i], square += row[i] * row[i];
  sum = of_block(sum, 0, [](float a, float b) { return a + b; }) / n;
  square = of_block(square, 0, [](float a, float b) { return a + b; }) / n;
  const float scale = rsqrtf(square - sum * sum + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[static_cast<size_t>(blockIdx.x) * n + i] = (row[i] - sum) * scale * gain[i] + bias[i];
}

__global__ void rmsnorm_half(const half2* in, const half2* gain, half2* out, int n) {
  const size_t row = static_cast<size_t>(blockIdx.x) * n;
  float square = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float2 v = __half22float2(in[row + i]);
    square += v.x * v.x + v.y * v.y;
  }
  square = of_block(square, 0, [](float a, float b) { return a + b; });
  const float scale = rsqrtf(square / (2 * n) + 1e-6f);
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float2 v = __half22float2(in[row + i]), g = __half22float2(gain[i]);
    out[row + i] = __floats2half2_rn(v.x * scale * g.x, v.y * scale * g.y);
  }
}

__global__ void batchnorm_statistics(const float* in, float* mean, float* variance, int batch, int channels, int area) {
  const int c = blockIdx.x;
  float sum = 0, square = 0;
  for (int i = threadIdx.x; i < batch * area; i += blockDim.x) {
    const float v = in[(i / area * channels + c) * area + i % area];
    sum += v, square += v * v;
  }
  sum = of_block(sum, 0, [](float a, float b) { return a + b; });
  square = of_block(square, 0, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) mean[c] = sum / (batch * area), variance[c] = square / (batch * area) - mean[c] * mean[c];
}

__global__ void cross_entropy(const float* logits, const uint32_t* label, float* loss, int n) {
  const float* row = logits + static_cast<size_t>(blockIdx.x) * n;
  float m = -1e30f, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, row[i]);
  m = of_block(m, -1e30f, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - m);
  sum = of_block(sum, 0, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + m - row[label[blockIdx.x] % n];
}

__global__ void column_sums(const float* in, float* out, int rows, int columns) {
  const int c = blockIdx.x * 32 + threadIdx.x;
  __shared__ float part[8][33];
  float sum = 0;
  for (int r = threadIdx.y; r < rows; r += 8) sum += in[static_cast<size_t>(r) * columns + c];
  part[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0) {
    for (int k = 1; k < 8; ++k) sum += part[k][threadIdx.x];
    out[c] = sum;
  }
}

__global__ void argmax_rows(const float* in, int* out, int n) {  // a warp each
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float most = -1e30f;
  int at = 0;
  for (int i = lane; i < n; i += 32) {
    const float v = in[static_cast<size_t>(row) * n + i];
    if (v > most) most = v, at = i;
  }
  for (int d = 16; d; d /= 2) {
    const float other = __shfl_down_sync(~0u, most, d);
    const int where = __shfl_down_sync(~0u, at, d);
    if (other > most || (other == most && where < at)) most = other, at = where;
  }
  if (lane == 0) out[row] = at;
}

__global__ void top_four(const float* in, float* out, int n) {  // a thread each row
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float best[4] = {-1e30f, -1e30f, -1e30f, -1e30f};
  for (int i = 0; i < n; ++i) {
    float v = in[static_cast<size_t>(i) * gridDim.x * blockDim.x + row];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (v > best[k]) {
        const float old = best[k];
        best[k] = v, v = old;
      }
  }
  for (int k = 0; k < 4; ++k) out[row * 4 + k] = best[k];
}

__global__ void scan_blelloch(const int* in, int* out, int* sums) {  // 1024 of a CTA of 512
  __shared__ int s[1024];
  const int t = threadIdx.x, base = blockIdx.x * 1024;
  s[2 * t] = in[base + 2 * t], s[2 * t + 1] = in[base + 2 * t + 1];
  int offset = 1;
  for (int d = 512; d > 0; d /= 2, offset *= 2) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
  }
  if (t == 0) sums[blockIdx.x] = s[1023], s[1023] = 0;
  for (int d = 1; d < 1024; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, v = s[a];
      s[a] = s[b], s[b] += v;
    }
  }
  __syncthreads();
  out[base + 2 * t] = s[2 * t], out[base + 2 * t + 1] = s[2 * t + 1];
}

__global__ void scan_warps(const int4* in, int4* out, int* sums) {
  __shared__ int part[8];
  const int t = threadIdx.x, lane = t % 32, w = t / 32, i = blockIdx.x * 256 + t;
  int4 v = in[i];
  v.y += v.x, v.z += v.y, v.w += v.z;
  int sum = v.w;
  for (int d = 1; d < 32; d *= 2) {
    const int u = __shfl_up_sync(~0u, sum, d);
    if (lane >= d) sum += u;
  }
  if (lane == 31) part[w] = sum;
  __syncthreads();
  int before = sum - v.w;
  for (int k = 0; k < w; ++k) before += part[k];
  out[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
  if (t == 255) sums[blockIdx.x] = before + v.w;
}

__global__ void scan_add(int* data, const int* before) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] += before[i / 1024];
}

__global__ void segmented_mean(const float* in, const int* first, float* out) {  // a warp each segment
  const int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0;
  const int begin = first[s], end = first[s + 1];
  for (int i = begin + lane; i < end; i += 32) sum += in[i];
  sum = sum_of_warp(sum);
  if (lane == 0) out[s] = end > begin ? sum / (end - begin) : 0;
}

__global__ void moving_average(const float* in, float* out, int n, int radius) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = -radius; k <= radius; ++k) sum += in[min(max(i + k, 0), n - 1)];
  out[i] = sum / (2 * radius + 1);
}

int main() {
  const int n = 4 << 20;
  float *a = floats(n), *b = zeros<float>(n), *small = floats(8192);
  int* ints = reinterpret_cast<int*>(numbers(n, 1000));
  int *iout = zeros<int>(n), *sums = zeros<int>(65536);
  reduce_tree<<<n / 1024, 512>>>(a, b);
  reduce_interleaved<<<n / 4 / 256, 256>>>(ints, iout);
  reduce_stride<<<264, 256>>>(reinterpret_cast<float4*>(a), b, n / 4);
  dot_double<<<264, 256>>>(reinterpret_cast<double*>(a), reinterpret_cast<double*>(b), reinterpret_cast<double*>(sums), n / 2);
  softmax_warp<<<8192 * 32 / 256, 256>>>(a, b, 512);
  softmax_block<<<1024, 256>>>(a, b, 4096);
  softmax_online<<<1024, 256>>>(a, b, 4096);
  layernorm<<<4096, 256>>>(a, small, small + 4096, b, 1024);
  rmsnorm_half<<<2048, 128>>>(reinterpret_cast<half2*>(a), reinterpret_cast<half2*>(small), reinterpret_cast<half2*>(b), 1024);
  batchnorm_statistics<<<256, 256>>>(a, b, b + 256, 16, 256, 1024);
  cross_entropy<<<512, 512>>>(a, reinterpret_cast<uint32_t*>(ints), b, 8192);
  column_sums<<<4096 / 32, dim3(32, 8)>>>(a, b, 1024, 4096);
  argmax_rows<<<4096 * 32 / 256, 256>>>(a, iout, 1024);
  top_four<<<264, 128>>>(a, b, 100);
  scan_blelloch<<<2048, 512>>>(ints, iout, sums);
  scan_warps<<<4096, 256>>>(reinterpret_cast<int4*>(ints), reinterpret_cast<int4*>(iout), sums);
  scan_add<<<n / 256, 256>>>(iout, sums);
  std::vector<int> first(16385);
  for (int i = 0; i < 16384; ++i) first[i + 1] = first[i] + next_random() % 200;
  int* starts = filled<int>(first.size(), [&](size_t i) { return first[i]; });
  segmented_mean<<<16384 * 32 / 128, 128>>>(a, starts, b);
  moving_average<<<n / 4 / 256, 256>>>(a, b, n / 4, 16);
  return finish();
}
