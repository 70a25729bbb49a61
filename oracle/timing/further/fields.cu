// SPDX-License-Identifier: Apache-2.0
// Stencils, images, sparse matrices, graphs, particles and arithmetic in other forms than in ../common.
#include "../common/common.h"

__global__ void stencil_2d_radius_4(const float* in, float* out, int n) {  // a cross, tile in shared memory
  __shared__ float s[16 + 8][32 + 8 + 1];
  const int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int j = ty; j < 24; j += 16)
    for (int i = tx; i < 40; i += 32) {
      const int x = min(max(x0 + i - 4, 0), n - 1), y = min(max(y0 + j - 4, 0), n - 1);
      s[j][i] = in[y * n + x];
    }
  __syncthreads();
  float sum = s[ty + 4][tx + 4];
#pragma unroll
  for (int k = 1; k <= 4; ++k) sum += (s[ty + 4][tx + 4 - k] + s[ty + 4][tx + 4 + k] + s[ty + 4 - k][tx + 4] + s[ty + 4 + k][tx + 4]) * (0.1f / k);
  out[(y0 + ty) * n + x0 + tx] = sum;
}

__global__ void stencil_3d_planes(const float* in, float* out, int n) {  // radius 2, along z in registers
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, plane = n * n;
  if (x < 2 || y < 2 || x >= n - 2 || y >= n - 2) return;
  const float* p = in + blockIdx.z * 32 * plane + y * n + x;
  float a = p[0], b = p[plane], c = p[2 * plane], d = p[3 * plane];
  for (int z = 2; z < 30; ++z) {
    const float e = p[(z + 2) * plane];
    const float* const q = p + z * plane;
    out[(blockIdx.z * 32 + z) * plane + y * n + x] = c * 0.5f + 0.1f * (a + e) + 0.2f * (b + d) + 0.1f * (q[-1] + q[1] + q[-n] + q[n]) + 0.05f * (q[-2] + q[2] + q[-2 * n] + q[2 * n]);
    a = b, b = c, c = d, d = e;
  }
}

__global__ void stencil_27(const float* in, float* out, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z + 1;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  float sum = 0;
  for (int k = -1; k <= 1; ++k)
    for (int j = -1; j <= 1; ++j)
#pragma unroll
      for (int i = -1; i <= 1; ++i) sum += in[((z + k) * n + y + j) * n + x + i];
  out[(z * n + y) * n + x] = sum / 27;
}

__global__ void poisson_red_black(double* u, const double* f, int n, int colour) {  // in place
  const int y = blockIdx.y * blockDim.y + threadIdx.y + 1, x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + (y + colour) % 2;
  if (x >= n - 1 || y >= n - 1) return;
  u[y * n + x] = 0.25 * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x] + u[(y + 1) * n + x] - f[y * n + x]);
}

__global__ void median_5(const uint8_t* in, uint8_t* out, int n) {  // by counting, 5 x 5
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < 2 || x >= n - 2 || y < 2 || y >= n - 2) return;
  uint8_t v[25];
#pragma unroll
  for (int k = 0; k < 25; ++k) v[k] = in[(y + k / 5 - 2) * n + x + k % 5 - 2];
#pragma unroll
  for (int i = 0; i <= 12; ++i)
#pragma unroll
    for (int j = i + 1; j < 25; ++j) {
      const uint8_t low = min(v[i], v[j]), high = max(v[i], v[j]);
      v[i] = low, v[j] = high;
    }
  out[y * n + x] = v[12];
}

__global__ void erode_rows(const uint8_t* in, uint8_t* out, int n) {  // 1 x 15, shared row
  __shared__ uint8_t s[256 + 14];
  const int x = blockIdx.x * 256 + threadIdx.x;
  const uint8_t* const row = in + blockIdx.y * n;
  for (int i = threadIdx.x; i < 270; i += 256) {
    const int from = static_cast<int>(blockIdx.x * 256) + i - 7;
    s[i] = from >= 0 && from < n ? row[from] : 255;
  }
  __syncthreads();
  int v = 255;
#pragma unroll
  for (int k = 0; k < 15; ++k) v = min(v, static_cast<int>(s[threadIdx.x + k]));
  out[blockIdx.y * n + x] = v;
}

__global__ void warp_image(const uchar4* in, uchar4* out, int n, float angle) {  // bilinear, rotated
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const float c = cosf(angle), s = sinf(angle), u = c * (x - n / 2) - s * (y - n / 2) + n / 2, v = s * (x - n / 2) + c * (y - n / 2) + n / 2;
  const int i = min(max(static_cast<int>(floorf(u)), 0), n - 2), j = min(max(static_cast<int>(floorf(v)), 0), n - 2);
  const float fu = u - i, fv = v - j;
  const uchar4 a = in[j * n + i], b = in[j * n + i + 1], d = in[(j + 1) * n + i], e = in[(j + 1) * n + i + 1];
  const auto mix = [&](float p, float q, float r, float t) { return static_cast<unsigned char>(fminf(fmaxf((p * (1 - fu) + q * fu) * (1 - fv) + (r * (1 - fu) + t * fu) * fv, 0), 255)); };
  out[y * n + x] = make_uchar4(mix(a.x, b.x, d.x, e.x), mix(a.y, b.y, d.y, e.y), mix(a.z, b.z, d.z, e.z), 255);
}

__global__ void grey_levels(const uchar3* in, uint8_t* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const uchar3 v = in[i];
  out[i] = (77 * v.x + 150 * v.y + 29 * v.z) >> 8;
}

// Eight lanes a row.
__global__ void spmv_csr_lanes(const int* starts, const int* columns, const double* values, const double* x, double* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
  if (row >= rows) return;
  double sum = 0;
  for (int k = starts[row] + lane; k < starts[row + 1]; k += 8) sum += values[k] * x[columns[k]];
  for (int d = 4; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum;
}

__global__ void spmv_coo(const int2* where, const float* values, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int2 w = where[i];
  atomicAdd(y + w.x, values[i] * x[w.y]);
}

__global__ void shortest_step(const int* starts, const int* to, const int* weight, const int* from, int* distance, int* changed, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const int d = from[v];
  if (d == 0x3fffffff) return;
  for (int k = starts[v]; k < starts[v + 1]; ++k)
    if (d + weight[k] < atomicMin(distance + to[k], d + weight[k])) *changed = 1;
}

__global__ void colour_step(const int* starts, const int* to, const uint32_t* priority, const int* colour, int* next, int round, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int mine = colour[v];
  if (mine < 0) {
    bool most = true;
    for (int k = starts[v]; k < starts[v + 1]; ++k)
      if (colour[to[k]] < 0 && priority[to[k]] > priority[v]) most = false;
    if (most) mine = round;
  }
  next[v] = mine;
}

__global__ void components_jump(int* parent, int n) {  // pointers are halved
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int p = parent[v];
  for (int k = 0; k < 4; ++k) p = parent[p];
  parent[v] = p;
}

// 16 centres in shared memory.
__global__ void kmeans_sums(const float2* points, const float2* centres, float* sums, int n) {
  __shared__ float2 c[16];
  __shared__ float s[16][3];
  const int t = threadIdx.x;
  if (t < 16) c[t] = centres[t];
  if (t < 48) s[t / 3][t % 3] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
    const float2 p = points[i];
    float least = 1e30f;
    int at = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float d = (p.x - c[k].x) * (p.x - c[k].x) + (p.y - c[k].y) * (p.y - c[k].y);
      if (d < least) least = d, at = k;
    }
    atomicAdd(&s[at][0], p.x), atomicAdd(&s[at][1], p.y), atomicAdd(&s[at][2], 1.0f);
  }
  __syncthreads();
  if (t < 48) atomicAdd(sums + t, s[t / 3][t % 3]);
}

__global__ void spheres(const float4* all, float* out, int many, int width) {  // rays against spheres in shared memory
  __shared__ float4 s[128];
  const int x = blockIdx.x * 16 + threadIdx.x % 16, y = blockIdx.y * 8 + threadIdx.x / 16;
  const float dx = (x - width / 2) / static_cast<float>(width), dy = (y - width / 2) / static_cast<float>(width), length = rsqrtf(dx * dx + dy * dy + 1);
  float near = 1e30f;
  for (int at = 0; at < many; at += 128) {
    s[threadIdx.x] = all[at + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 128; ++k) {
      const float4 c = s[k];
      const float b = (c.x * dx + c.y * dy + (c.z + 4)) * length, d = b * b - (c.x * c.x + c.y * c.y + (c.z + 4) * (c.z + 4)) + c.w * c.w * 0.04f;
      if (d > 0) {
        const float t = b - sqrtf(d);
        if (t > 0 && t < near) near = t;
      }
    }
    __syncthreads();
  }
  out[y * width + x] = near;
}

__global__ void julia(uint8_t* out, int width, float cx, float cy) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float u = 3.0f * x / width - 1.5f, v = 3.0f * y / width - 1.5f;
  int k = 0;
  for (; k < 255 && u * u + v * v < 4; ++k) {
    const float w = u * u - v * v + cx;
    v = 2 * u * v + cy, u = w;
  }
  out[y * width + x] = k;
}

__global__ void xorshift_area(unsigned long long* hits, int rounds) {
  uint32_t s = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1, inside = 0;
  for (int k = 0; k < rounds; ++k) {
    s ^= s << 13, s ^= s >> 17, s ^= s << 5;
    const float x = (s & 0xffff) / 65536.0f, y = (s >> 16) / 65536.0f;
    inside += y < expf(-x * x);
  }
  inside = __reduce_add_sync(~0u, inside);
  if (threadIdx.x % 32 == 0) atomicAdd(hits, inside);
}

__global__ void gravity_tiles(const float4* bodies, float4* out, int n) {  // two bodies of a thread
  __shared__ float4 s[128];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float4 p = bodies[i], q = bodies[i + 128];
  float3 f = {0, 0, 0}, g = {0, 0, 0};
  for (int at = 0; at < n; at += 128) {
    s[threadIdx.x] = bodies[at + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 128; ++k) {
      const float4 b = s[k];
      float x = b.x - p.x, y = b.y - p.y, z = b.z - p.z, r = rsqrtf(x * x + y * y + z * z + 0.01f), w = b.w * r * r * r;
      f.x += x * w, f.y += y * w, f.z += z * w;
      x = b.x - q.x, y = b.y - q.y, z = b.z - q.z, r = rsqrtf(x * x + y * y + z * z + 0.01f), w = b.w * r * r * r;
      g.x += x * w, g.y += y * w, g.z += z * w;
    }
    __syncthreads();
  }
  out[i] = make_float4(f.x, f.y, f.z, 0), out[i + 128] = make_float4(g.x, g.y, g.z, 0);
}

int main() {
  const int n = 4 << 20, side = 2048;
  float *a = floats(n), *b = zeros<float>(n);
  uint8_t* bytes = filled<uint8_t>(n, [](size_t) { return next_random() % 256; });
  double *d = filled<double>(1 << 20, [](size_t i) { return static_cast<double>(i % 17); }), *e = zeros<double>(1 << 20);
  stencil_2d_radius_4<<<dim3(side / 32, side / 16), dim3(32, 16)>>>(a, b, side);
  stencil_3d_planes<<<dim3(4, 16, 8), dim3(32, 8)>>>(a, b, 128);
  stencil_27<<<dim3(4, 16, 126), dim3(32, 8)>>>(a, b, 128);
  poisson_red_black<<<dim3(8, 256), dim3(64, 4)>>>(d, e, 1024, 0);
  median_5<<<dim3(8, 1024), 128>>>(bytes, reinterpret_cast<uint8_t*>(b), 1024);
  erode_rows<<<dim3(8, 2048), 256>>>(bytes, reinterpret_cast<uint8_t*>(b), 2048);
  warp_image<<<dim3(64, 64), dim3(16, 16)>>>(reinterpret_cast<uchar4*>(bytes), reinterpret_cast<uchar4*>(b), 1024, 0.3f);
  grey_levels<<<n / 4 / 256, 256>>>(reinterpret_cast<uchar3*>(bytes), reinterpret_cast<uint8_t*>(b));
  const int rows = 65536;
  std::vector<int> first(rows + 1);
  for (int i = 0; i < rows; ++i) first[i + 1] = first[i] + 4 + next_random() % 24;
  const int edges = first[rows];
  int* starts = filled<int>(rows + 1, [&](size_t i) { return first[i]; });
  int* to = filled<int>(edges, [&](size_t) { return static_cast<int>(next_random() % rows); });
  int* weights = filled<int>(edges, [&](size_t) { return static_cast<int>(next_random() % 100 + 1); });
  spmv_csr_lanes<<<rows * 8 / 256, 256>>>(starts, to, filled<double>(edges, [](size_t i) { return static_cast<double>(i % 7); }), d, e, rows);
  spmv_coo<<<2048, 256>>>(filled<int2>(2048 * 256, [&](size_t i) { return make_int2(static_cast<int>(i / 8), static_cast<int>(next_random() % rows)); }), a, a, b);
  const auto distance = [&](size_t i) { return i % 4 == 0 ? static_cast<int>(i % 1000) : 0x3fffffff; };
  shortest_step<<<rows / 128, 128>>>(starts, to, weights, filled<int>(rows, distance), filled<int>(rows, distance), zeros<int>(1), rows);
  colour_step<<<rows / 256, 256>>>(starts, to, numbers(rows), filled<int>(rows, [](size_t i) { return i % 3 ? -1 : 0; }), zeros<int>(rows), 1, rows);
  components_jump<<<(1 << 20) / 256, 256>>>(filled<int>(1 << 20, [](size_t i) { return static_cast<int>(i - (i ? next_random() % i % 4096 : 0)); }), 1 << 20);
  kmeans_sums<<<264, 256>>>(reinterpret_cast<float2*>(a), reinterpret_cast<float2*>(a), b, 1 << 20);
  spheres<<<dim3(32, 64), 128>>>(reinterpret_cast<float4*>(a), b, 512, 512);
  julia<<<dim3(32, 64), dim3(32, 16)>>>(reinterpret_cast<uint8_t*>(b), 1024, -0.8f, 0.156f);
  xorshift_area<<<528, 256>>>(zeros<unsigned long long>(1), 256);
  gravity_tiles<<<64, 128>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(b), 16384 / 4);
  return finish();
}
