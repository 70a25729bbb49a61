// SPDX-License-Identifier: Apache-2.0
// Stencils, lattices and filters of images, as they are commonly written.
#include "common.h"

__global__ void jacobi(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
  out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

__global__ void jacobi_shared(const float* in, float* out, int n) {
  __shared__ float s[18][34];
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  s[ty][tx] = in[y * n + x];
  if (threadIdx.x == 0) s[ty][0] = x ? in[y * n + x - 1] : 0;
  if (threadIdx.x == 31) s[ty][33] = x < n - 1 ? in[y * n + x + 1] : 0;
  if (threadIdx.y == 0) s[0][tx] = y ? in[(y - 1) * n + x] : 0;
  if (threadIdx.y == 15) s[17][tx] = y < n - 1 ? in[(y + 1) * n + x] : 0;
  __syncthreads();
  out[y * n + x] = 0.2f * (s[ty][tx] + s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}

__global__ void heat_3d(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x > n - 2 || y > n - 2 || z > n - 2) return;
  const int i = (z * n + y) * n + x;
  out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n] - 6 * in[i]);
}

// 25 points; planes are kept in registers while a CTA goes through z.
__global__ void wave_3d(const float* in, float* out, int n) {
  __shared__ float s[8 + 8][32 + 8];
  const int tx = threadIdx.x + 4, ty = threadIdx.y + 4;
  const int x = min(max(static_cast<int>(blockIdx.x * 32 + threadIdx.x), 4), n - 5), y = min(max(static_cast<int>(blockIdx.y * 8 + threadIdx.y), 4), n - 5);
  const int plane = n * n, z0 = 4 + blockIdx.z * 16;
  int i = z0 * plane + y * n + x;
  float q[9];
#pragma unroll
  for (int k = 0; k < 8; ++k) q[k] = in[i + (k - 4) * plane];
  for (int z = z0; z < min(z0 + 16, n - 4); ++z, i += plane) {
    q[8] = in[i + 4 * plane];
    __syncthreads();
    s[ty][tx] = q[4];
    if (threadIdx.y < 4) s[ty - 4][tx] = in[i - 4 * n], s[ty + 8][tx] = in[min(i + 8 * n, n * plane - 1)];
    if (threadIdx.x < 4) s[ty][tx - 4] = in[i - 4], s[ty][tx + 32] = in[min(i + 32, n * plane - 1)];
    __syncthreads();
    float v = 0.5f * q[4];
#pragma unroll
    for (int k = 1; k <= 4; ++k)
      v += (0.1f / k) * (s[ty][tx - k] + s[ty][tx + k] + s[ty - k][tx] + s[ty + k][tx] + q[4 - k] + q[4 + k]);
    out[i] = v;
#pragma unroll
    for (int k = 0; k < 8; ++k) q[k] = q[k + 1];
  }
}

__global__ void lattice(const float* in, float* out, int n) {  // nine velocities, stream and collide
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  constexpr int kX[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, kY[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  constexpr float kW[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
  float f[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    f[k] = in[(k * n + (y - kY[k] + n) % n) * n + (x - kX[k] + n) % n];
    rho += f[k], ux += f[k] * kX[k], uy += f[k] * kY[k];
  }
  ux /= rho, uy /= rho;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const float c = 3 * (kX[k] * ux + kY[k] * uy);
    out[(k * n + y) * n + x] = f[k] - 0.6f * (f[k] - kW[k] * rho * (1 + c + 0.5f * c * c - 1.5f * (ux * ux + uy * uy)));
  }
}

__global__ void life(const uint8_t* in, uint8_t* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) sum += in[((y + dy) & (n - 1)) * n + ((x + dx) & (n - 1))];
  out[y * n + x] = sum == 3 || (sum == 2 && in[y * n + x]);
}

__global__ void sobel(const uint8_t* in, uint8_t* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x > n - 2 || y > n - 2) return;
  const auto p = [&](int dx, int dy) { return static_cast<int>(in[(y + dy) * n + x + dx]); };
  const int gx = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1);
  const int gy = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1);
  out[y * n + x] = min(255, static_cast<int>(sqrtf(static_cast<float>(gx * gx + gy * gy))));
}

__global__ void median(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float v[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) v[k] = in[min(max(y + k / 3 - 1, 0), n - 1) * n + min(max(x + k % 3 - 1, 0), n - 1)];
#pragma unroll
  for (int i = 0; i < 5; ++i)
#pragma unroll
    for (int j = i + 1; j < 9; ++j) {
      const float low = fminf(v[i], v[j]);
      v[j] = fmaxf(v[i], v[j]), v[i] = low;
    }
  out[y * n + x] = v[4];
}

__constant__ float kernel_of_rows[17];
__global__ void blur_rows(const float* in, float* out, int n) {
  __shared__ float s[256 + 16];
  const int x = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
  s[threadIdx.x + 8] = in[y * n + x];
  if (threadIdx.x < 8) s[threadIdx.x] = x >= 8 ? in[y * n + x - 8] : 0, s[threadIdx.x + 264] = x + 256 < n ? in[y * n + x + 256] : 0;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 17; ++k) sum += s[threadIdx.x + k] * kernel_of_rows[k];
  out[y * n + x] = sum;
}
__global__ void blur_columns(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float sum = 0;
  for (int k = 0; k < 17; ++k) sum += in[min(max(y + k - 8, 0), n - 1) * n + x] * kernel_of_rows[k];
  out[y * n + x] = sum;
}

__global__ void bilateral(const float* in, float* out, int n, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float center = in[y * n + x];
  float sum = 0, weights = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      const float v = in[min(max(y + dy, 0), n - 1) * n + min(max(x + dx, 0), n - 1)];
      const float w = __expf(-(dx * dx + dy * dy) * 0.08f - (v - center) * (v - center) * 2);
      sum += w * v, weights += w;
    }
  out[y * n + x] = sum / weights;
}

__global__ void resize(const float* in, float* out, int n, int m) {  // bilinear
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  const float u = (x + 0.5f) * n / m - 0.5f, v = (y + 0.5f) * n / m - 0.5f;
  const int i = min(max(static_cast<int>(floorf(u)), 0), n - 2), j = min(max(static_cast<int>(floorf(v)), 0), n - 2);
  const float fx = u - i, fy = v - j;
  const float* p = in + j * n + i;
  out[y * m + x] = (p[0] * (1 - fx) + p[1] * fx) * (1 - fy) + (p[n] * (1 - fx) + p[n + 1] * fx) * fy;
}

__global__ void max_pool(const float* in, float* out, int n) {  // 3 x 3, stride 2
  const int i = blockIdx.x * blockDim.x + threadIdx.x, m = n / 2, x = i % m, y = i / m % m, c = i / (m * m);
  float most = -1e30f;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx)
      if (2 * x + dx < n && 2 * y + dy < n) most = fmaxf(most, in[(c * n + 2 * y + dy) * n + 2 * x + dx]);
  out[i] = most;
}

__global__ void electric(float* ex, float* ey, const float* hz, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (y) ex[y * n + x] += 0.5f * (hz[y * n + x] - hz[(y - 1) * n + x]);
  if (x) ey[y * n + x] -= 0.5f * (hz[y * n + x] - hz[y * n + x - 1]);
}

// Rounds of a stencil in shared memory: the halo shrinks.
__global__ void rounds_1d(const float* in, float* out, int rounds) {
  __shared__ float s[2][1024];
  const int t = threadIdx.x, first = blockIdx.x * (1024 - 2 * rounds) - rounds;
  s[0][t] = in[max(first + t, 0)];
  int now = 0;
  for (int r = 0; r < rounds; ++r, now ^= 1) {
    __syncthreads();
    s[now ^ 1][t] = 0.25f * s[now][max(t - 1, 0)] + 0.5f * s[now][t] + 0.25f * s[now][min(t + 1, 1023)];
  }
  if (t >= rounds && t < 1024 - rounds) out[first + t] = s[now][t];
}

// A thread each.
__global__ void tridiagonal(const float* a, const float* b, const float* c, float* d, float* work, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  float cp = c[i] / (b[i] + 4), dp = d[i] / (b[i] + 4);
  work[i] = cp, d[i] = dp;
  for (int k = 1; k < n; ++k) {
    const int at = k * stride + i;
    const float m = 1 / (b[at] + 4 - a[at] * cp);
    cp = c[at] * m, dp = (d[at] - a[at] * dp) * m;
    work[at] = cp, d[at] = dp;
  }
  float x = dp;
  for (int k = n - 2; k >= 0; --k) d[k * stride + i] = x = d[k * stride + i] - work[k * stride + i] * x;
}

int main() {
  const int n = 2048, cube = 160;
  float *a = floats(n * n * 2), *b = zeros<float>(n * n * 2), *c = floats(n * n);
  uint8_t *u = filled<uint8_t>(n * n, [](size_t) { return next_random() % 2; }), *v = zeros<uint8_t>(n * n);
  uint8_t* gray = filled<uint8_t>(n * n, [](size_t) { return next_random() % 256; });
  float weights[17];
  for (int k = 0; k < 17; ++k) weights[k] = 1.0f / 17;
  must(cudaMemcpyToSymbol(kernel_of_rows, weights, sizeof weights), "cudaMemcpyToSymbol");
  jacobi<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, b, n);
  jacobi_shared<<<dim3(n / 32, n / 16), dim3(32, 16)>>>(a, b, n);
  heat_3d<<<dim3(cube / 32, cube / 8, cube), dim3(32, 8)>>>(a, b, cube);
  wave_3d<<<dim3(cube / 32, cube / 8, cube / 16), dim3(32, 8)>>>(a, b, cube);
  lattice<<<dim3(640 / 128, 640), 128>>>(c, b, 640);
  life<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(u, v, n);
  sobel<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(gray, v, n);
  median<<<dim3(n / 32 / 2, n / 8 / 2), dim3(32, 8)>>>(a, b, n / 2);
  blur_rows<<<dim3(n / 256, n), 256>>>(a, b, n);
  blur_columns<<<dim3(n / 256, n / 2), 256>>>(a, b, n);
  bilateral<<<dim3(512 / 16, 512 / 16), dim3(16, 16)>>>(a, b, 512, 4);
  resize<<<dim3(1536 / 256, 1536), 256>>>(a, b, 1024, 1536);
  max_pool<<<(1 << 20) / 256, 256>>>(a, b, 256);
  electric<<<dim3(n / 256, n), 256>>>(a, b, c, n);
  rounds_1d<<<1024, 1024>>>(a, b, 16);
  tridiagonal<<<132, 128>>>(a, a + n * n, b, b + n * n, c, 64);
  return finish();
}
